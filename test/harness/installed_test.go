package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestNewestPostgresIsFound(t *testing.T) {
	versions, path := t.TempDir(), t.TempDir()
	for _, version := range []string{"9.6", "15", "17", "common"} {
		dir := filepath.Join(versions, version, "bin")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		program(t, dir, "postgres", "")
		if version != "17" { // half installed
			program(t, dir, "initdb", "")
		}
	}
	t.Setenv("PATH", path)
	want := func(dir string) {
		t.Helper()
		if got, err := findPostgres(versions); err != nil || got != dir {
			t.Errorf("found %q, %v; want %s", got, err, dir)
		}
	}
	want(filepath.Join(versions, "15", "bin"))
	program(t, path, "postgres", "")
	want(filepath.Join(versions, "15", "bin"))
	program(t, path, "initdb", "")
	want(path)
}

func TestMissingPostgresFailsTheTestCommandOnly(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	none := t.TempDir()

	t.Setenv("TOKENFARE_TEST", "")
	r := &recorder{TB: t}
	if _, ok := installed(r, none); ok || !strings.Contains(r.said, "not run: ") || !strings.Contains(r.said, "bash test/all.sh") {
		t.Errorf("without a server: %v, %q", ok, r.said)
	}
	t.Setenv("TOKENFARE_TEST", "all")
	if said := fatal(t, func(t testing.TB) { installed(t, none) }); !strings.Contains(said, "no Postgres server") {
		t.Errorf("without a server, under the test command: %q", said)
	}
}

func TestServerAccountCanReachItsDirectory(t *testing.T) {
	hidden := t.TempDir() // its parent is for its owner alone
	if reachable(hidden) || !reachable("/") || reachable("/absent") {
		t.Errorf("everybody can enter %s: %v, /: %v, /absent: %v", hidden, reachable(hidden), reachable("/"), reachable("/absent"))
	}
	t.Setenv("TMPDIR", hidden)
	as, err := serverAccount()
	if err != nil {
		t.Fatal(err)
	}
	if (as != nil) != (os.Getuid() == 0) {
		t.Fatalf("the server of user %d is to run as %+v", os.Getuid(), as)
	}
	dir, err := as.directory()
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if mine := strings.HasPrefix(dir, hidden); mine != (as == nil) {
		t.Errorf("%s is made for %+v", dir, as)
	}
}

// program writes a shell script that anybody may run.
func program(t *testing.T, dir, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// recorder is a test that notes what it is told. Fatal ends the goroutine, as it must.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Helper()                           {}
func (r *recorder) Logf(format string, values ...any) { r.said = fmt.Sprintf(format, values...) }
func (r *recorder) Fatal(values ...any) {
	r.said = fmt.Sprint(values...)
	runtime.Goexit()
}

// fatal is what f ends a test with; "" if it does not.
func fatal(t *testing.T, f func(testing.TB)) string {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r.said
}
