package main

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var secretShape = regexp.MustCompile(`tf-[0-9A-Za-z]{40}\b`)

func runKeysTest(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var o, e bytes.Buffer
	code = runKeys(args, &o, &e)
	return code, o.String(), e.String()
}

func TestKeysNewPrintsWhatToPaste(t *testing.T) {
	code, out, errs := runKeysTest(t, "new", "alice", "-plan", "team", "ci", "-limit", "50k tokens per minute, burst 500k", "-limit", "$5 each day")
	if code != 0 || errs != "" {
		t.Fatalf("exits %d: %s", code, errs)
	}
	secrets := secretShape.FindAllString(out, -1)
	if len(secrets) != 2 || secrets[0] == secrets[1] {
		t.Fatalf("want two different keys, each once:\n%s", out)
	}
	_, pasted, found := strings.Cut(out, "keys:\n")
	if !found {
		t.Fatalf("no YAML to paste:\n%s", out)
	}
	c := parseTest(t, "upstreams: { local: { url: \"http://localhost:1\" } }\nplans: { team: [\"$50 each month\"] }\nkeys:\n"+pasted)
	for i, k := range c.Keys {
		if len(k.Hashes) != 1 || k.Hashes[0] != sha256.Sum256([]byte(secrets[i])) || !strings.Contains(pasted, hashOf(secrets[i])) {
			t.Errorf("key %s does not carry the hash of its secret", k.Name)
		}
		if k.Plan != "team" || len(k.Limits) != 2 {
			t.Errorf("key %s: plan %q, limits %v", k.Name, k.Plan, k.Limits)
		}
	}
	if len(c.Keys) != 2 || c.Keys[0].Name != "alice" || c.Keys[1].Name != "ci" {
		t.Errorf("%d keys", len(c.Keys))
	}
}

func TestKeysNewSaysNoneAloud(t *testing.T) {
	_, out, _ := runKeysTest(t, "new", "alice")
	if !strings.Contains(out, "limits: none }") || !strings.Contains(out, "means what it says") {
		t.Errorf("%s", out)
	}
}

func TestKeysMisused(t *testing.T) {
	for _, args := range [][]string{
		{}, {"old"}, {"new"}, {"new", "alice smith"}, {"new", "a", "a"}, {"new", "a", "-limit", "200k tpm"}, {"new", "a", "-plan", "x y"}, {"new", "*"},
	} {
		if code, out, errs := runKeysTest(t, args...); code != 2 || out != "" || errs == "" {
			t.Errorf("keys %q exits %d, prints %q and %q", args, code, out, errs)
		}
	}
	if _, _, errs := runKeysTest(t, "new", "a", "-limit", "200k tpm"); !strings.Contains(errs, "`200k tokens per minute`") {
		t.Errorf("no fix for the limit: %s", errs)
	}
	if code, out, _ := runKeysTest(t, "new", "--help"); code != 0 || !strings.Contains(out, "tokenfare keys new alice") {
		t.Errorf("help exits %d: %s", code, out)
	}
}

func TestKeysAreAddedToAFile(t *testing.T) {
	const up = "upstreams: { local: { url: \"http://localhost:1\" } }\n"
	const bob = "bob: { hash: \"" + testHash + "\", limits: none }"
	const line = `alice: { hash: "HASH", limits: none }`
	for name, c := range map[string]struct{ before, after string }{
		"no keys yet":           {up, up + "\nkeys:\n  " + line + "\n"},
		"no newline at the end": {strings.TrimSuffix(up, "\n"), up + "\nkeys:\n  " + line + "\n"},
		"empty file":            {"", "keys:\n  " + line + "\n"},
		"only a comment":        {"# keys of the team\n", "# keys of the team\n\nkeys:\n  " + line + "\n"},
		"behind the last key":   {up + "keys:\n  " + bob + "\n", up + "keys:\n  " + bob + "\n  " + line + "\n"},
		"deep indentation":      {"keys:\n      " + bob + "   # why\n", "keys:\n      " + bob + "   # why\n      " + line + "\n"},
		"before what follows":   {"keys:\n  " + bob + "\n\n# the rest\n" + up, "keys:\n  " + bob + "\n  " + line + "\n\n# the rest\n" + up},
		"behind comments of keys": {
			"keys:\n  # first\n  bob:   # him\n    hash: \"" + testHash + "\"\n    limits:\n      - $5 each day # a day\n  # carol: gone\n\n\n" + up,
			"keys:\n  # first\n  bob:   # him\n    hash: \"" + testHash + "\"\n    limits:\n      - $5 each day # a day\n  # carol: gone\n  " + line + "\n\n\n" + up,
		},
		"empty member":       {"keys:   # nobody yet\n" + up, "keys:   # nobody yet\n  " + line + "\n" + up},
		"empty braces":       {"keys: {}\n" + up, "keys:\n  " + line + "\n" + up},
		"Windows line ends":  {"keys:\r\n  " + bob + "\r\n" + strings.ReplaceAll(up, "\n", "\r\n"), "keys:\r\n  " + bob + "\r\n  " + line + "\r\n" + strings.ReplaceAll(up, "\n", "\r\n")},
		"value on two lines": {"keys:\n  bob: { hash: \"" + testHash + "\",\n    limits: none }\n" + up, "keys:\n  bob: { hash: \"" + testHash + "\",\n    limits: none }\n  " + line + "\n" + up},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(file, []byte(c.before), 0o640); err != nil {
				t.Fatal(err)
			}
			was, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			code, out, errs := runKeysTest(t, "new", "-w", file, "alice")
			if code != 0 {
				t.Fatalf("exits %d: %s", code, errs)
			}
			secret := secretShape.FindString(out)
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Replace(c.after, "HASH", hashOf(secret), 1); string(got) != want {
				t.Errorf("the file is\n%s\nwant\n%s", got, want)
			}
			if strings.Contains(string(got), secret) {
				t.Error("the key itself is in the file")
			}
			info, err := os.Stat(file)
			if err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("the mode changed: %v %v", info.Mode(), err)
			}
			if !os.SameFile(was, info) {
				t.Error("it is another file now, which a container that has the old one mounted does not see")
			}
			if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
				t.Errorf("files left behind: %v %v", left, err)
			}
		})
	}
}

func TestFilesThatCannotTakeKeysStayAsTheyAre(t *testing.T) {
	const up = "upstreams: { local: { url: \"http://localhost:1\" } }\n"
	const bob = "bob: { hash: \"" + testHash + "\", limits: none }"
	for name, c := range map[string]struct{ text, says string }{
		"the name is taken":   {up + "keys:\n  " + bob + "\n", "bob already (line 3)"},
		"not YAML":            {up + "keys:\n\tbob: {}\n", "indented with a tab"},
		"keys in braces":      {up + "keys: { " + strings.ReplaceAll(bob, "bob", "eve") + " }\n", "in braces"},
		"keys are a list":     {up + "keys: [eve]\n", "not a mapping"},
		"top is a list":       {"- keys\n", "not a mapping"},
		"the plan is unknown": {up + "plans: { team: [\"$5 each day\"] }\n", "there is no plan"},
		"two documents":       {up + "---\nkeys:\n  eve: {}\n", "more than one"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			code, out, errs := runKeysTest(t, "new", "bob", "-w", file, "-plan", "taem")
			if code != 1 || out != "" || !strings.Contains(errs, c.says) || !strings.Contains(errs, "is unchanged") {
				t.Errorf("exits %d, prints %q and %q", code, out, errs)
			}
			if got, err := os.ReadFile(file); err != nil || string(got) != c.text {
				t.Errorf("the file changed: %v\n%s", err, got)
			}
			if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
				t.Errorf("files left behind: %v %v", left, err)
			}
		})
	}
}

func TestKeysFollowASymbolicLink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.yaml"), filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(real, []byte("plans: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := runKeysTest(t, "new", "alice", "-w", link); code != 0 {
		t.Fatal(errs)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
	if text, err := os.ReadFile(real); err != nil || !strings.Contains(string(text), "alice:") {
		t.Errorf("the file behind the link is unchanged: %v", err)
	}
}

func TestMintedKeysUseEveryLetterAlike(t *testing.T) {
	seen := map[rune]int{}
	for range 500 {
		k, err := mintKey()
		if err != nil || !secretShape.MatchString(k) || len(k) != 43 {
			t.Fatalf("%q, %v", k, err)
		}
		for _, r := range k[3:] {
			seen[r]++
		}
	}
	for _, r := range keyLetters { // 20,000 letters: 322 of each, give or take 18
		if n := seen[r]; n < 220 || n > 430 {
			t.Errorf("%c occurs %d times", r, n)
		}
	}
}
