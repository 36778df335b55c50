package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKeysCreateAConfigurationThatWorks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	t.Setenv("OPENAI_API_KEY", "") // is not needed to write it
	code, out, errs := runKeysTest(t, "new", "alice", "-limit", "$5 each day", "-w", file)
	if code != 0 || !strings.Contains(out, "Created "+file) || !strings.Contains(out, "tokenfare serve -config "+file) {
		t.Fatalf("exits %d, prints %q and %q", code, out, errs)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	secret := secretShape.FindString(out)
	if strings.Contains(string(text), secret) || !strings.Contains(string(text), "tokenfare check -config config.yaml") {
		t.Errorf("the file is\n%s", text)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o600 != 0o600 || info.Mode().Perm()&0o022 != 0 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	t.Setenv("OPENAI_API_KEY", "sk-example")
	c, err := loadConfig(file)
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := compileTest(t, c)
	if len(spec.Keys) != 1 || spec.Keys[0].Name != "alice" || spec.Upstreams[0].Key != "sk-example" || !strings.Contains(string(text), hashOf(secret)) {
		t.Errorf("%+v", spec)
	}
	if code, out, errs := runKeysTest(t, "new", "bob", "-w", file); code != 0 || !strings.Contains(out, "Added to") {
		t.Errorf("a second key: exits %d: %s", code, errs)
	}
}

func TestKeysCreateNothingThatWouldNotWork(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	code, out, errs := runKeysTest(t, "new", "alice", "-plan", "team", "-w", file)
	if code != 1 || out != "" || !strings.Contains(errs, `there is no plan "team"`) || !strings.Contains(errs, "is not created") || !strings.Contains(errs, "plans: { team:") {
		t.Errorf("exits %d, prints %q and %q", code, out, errs)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if code, out, _ := runKeysTest(t, "new", "alice", "-w", filepath.Join(dir, "absent", "config.yaml")); code != 1 || out != "" {
		t.Errorf("no folder: exits %d, prints %q", code, out)
	}
}

// TestKeysAddNoMistakes: what is wrong with the file already, such as a variable that is set only where the proxy runs, neither
// keeps keys out nor lets new mistakes in.
func TestKeysAddNoMistakes(t *testing.T) {
	const unset = "upstreams:\n  openai: { url: \"https://api.openai.com/v1\", key: \"${TOKENFARE_TEST_UNSET}\" }\n"
	const plans = "plans: { team: [\"$5 each day\"] }\n"
	const bob = "bob: { hash: \"" + testHash + "\", limits: none }\n"
	for name, c := range map[string]struct {
		text, included string
		args           []string
		says           string // "": it is added
	}{
		"variable, plan":            {text: unset + plans, args: []string{"-plan", "team"}},
		"variable, limit":           {text: unset, args: []string{"-limit", "$5 each day"}},
		"variable, unknown plan":    {text: unset + plans, args: []string{"-plan", "nope"}, says: `there is no plan "nope"`},
		"mistakes below move":       {text: "keys:\n  " + bob + unset + "groups:\n  all: { keys: [nobody], limits: [$5 each day] }\nlisen: x\n"},
		"the same mistake again":    {text: unset + "keys:\n  " + strings.Replace(bob, "limits: none", "plan: nope", 1), args: []string{"-plan", "nope"}, says: `there is no plan "nope"`},
		"plan of another file":      {text: unset + "include: more.yaml\n", included: plans, args: []string{"-plan", "team"}},
		"plan that no file has":     {text: unset + "include: more.yaml\n", included: plans, args: []string{"-plan", "nope"}, says: `there is no plan "nope"`},
		"name taken in other file":  {text: unset + "include: more.yaml\n", included: "keys:\n  alice: { hash: \"" + testHash + "\", limits: none }\n", says: "defined twice"},
		"an included file itself":   {text: "keys:\n  " + bob, args: []string{"-plan", "team"}},
		"limit that plan has, too":  {text: unset + plans, args: []string{"-plan", "team", "-limit", "$6 each day"}, says: "counts the same"},
		"mends: no keys, all hosts": {text: "listen: \":8080\"\n" + unset},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "config.yaml")
			for name, text := range map[string]string{"config.yaml": c.text, "more.yaml": c.included} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			code, out, errs := runKeysTest(t, append([]string{"new", "alice", "-w", file}, c.args...)...)
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if c.says == "" {
				if code != 0 || !strings.Contains(string(got), "alice:") {
					t.Errorf("exits %d: %s", code, errs)
				}
				return
			}
			if code != 1 || out != "" || !strings.Contains(errs, c.says) || strings.Contains(errs, "TOKENFARE_TEST_UNSET") || string(got) != c.text {
				t.Errorf("exits %d, prints %q and %q; the file is\n%s", code, out, errs, got)
			}
		})
	}
}

// fakeDisk holds one file and so many bytes at most. Its call number broken fails.
type fakeDisk struct {
	content       []byte
	space         int
	calls, broken int
}

var errDisk = errors.New("disk")

func (d *fakeDisk) fails() bool {
	d.calls++
	return d.calls == d.broken
}

func (d *fakeDisk) WriteAt(p []byte, off int64) (int, error) {
	if d.fails() {
		p = p[:len(p)/2]
		d.put(p, off)
		return len(p), errDisk
	}
	if room := max(len(d.content), d.space) - int(off); len(p) > room {
		d.put(p[:room], off)
		return room, errDisk
	}
	d.put(p, off)
	return len(p), nil
}

func (d *fakeDisk) put(p []byte, off int64) {
	if grow := int(off) + len(p) - len(d.content); grow > 0 {
		d.content = append(d.content, make([]byte, grow)...)
	}
	copy(d.content[off:], p)
}

func (d *fakeDisk) Truncate(size int64) error {
	if d.fails() {
		return errDisk
	}
	d.content = d.content[:size]
	return nil
}

func (d *fakeDisk) Sync() error {
	if d.fails() {
		return errDisk
	}
	return nil
}

func TestAFileIsOverwrittenWholeOrNotAtAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		old := append(bytes.Repeat([]byte("abcdefgh"), rng.IntN(4)), "old"...)
		at := rng.IntN(len(old) + 1)
		fresh := append(append(append([]byte{}, old[:at]...), "a new key"...), old[at:]...)
		d := &fakeDisk{content: bytes.Clone(old), space: len(fresh)}
		if rng.IntN(2) == 0 {
			d.space -= rng.IntN(12)
		} else {
			d.broken = rng.IntN(7)
		}
		err := overwrite(d, old, fresh)
		want := fresh
		if err != nil {
			want = old
		}
		if !bytes.Equal(d.content, want) {
			t.Fatalf("from %q to %q, %d bytes of space, call %d fails: %q is left, with %v", old, fresh, d.space, d.broken, d.content, err)
		}
		if err == nil && (d.space < len(fresh) || d.broken > 0 && d.broken <= d.calls) {
			t.Fatal("a failure was not noticed")
		}
	}
}
