package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

func TestLedgerBackup(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "config.yaml")
	write := func(line string) {
		if err := os.WriteFile(config, fmt.Appendf(nil, "%s\nupstreams: { local: { url: \"http://localhost:1\" } }\n", line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "usage.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close() // it is open while it is copied
	backup := func(args ...string) (int, string) {
		var out bytes.Buffer
		code := runLedger(t.Context(), append([]string{"backup", "-config", config}, args...), &out, &out)
		return code, out.String()
	}
	to := filepath.Join(dir, "copy.db")
	if code, out := backup(to); code != 0 || !strings.Contains(out, to) {
		t.Fatalf("%d: %s", code, out)
	}
	if copied, err := sqlite.OpenReader(t.Context(), to); err != nil {
		t.Errorf("the copy: %v", err)
	} else {
		copied.Close()
	}
	for name, c := range map[string]struct {
		line string
		args []string
		code int
		want string
	}{
		"again":    {"", []string{to}, 1, "is there already"},
		"no name":  {"", nil, 2, "name one new file"},
		"no place": {"", []string{filepath.Join(dir, "nowhere", "copy.db")}, 1, "the directory must exist"},
		"none":     {"ledger: none", []string{filepath.Join(dir, "x.db")}, 1, "there is no ledger"},
		"postgres": {`ledger: { url: "postgres://u:secret@db/usage" }`, []string{filepath.Join(dir, "x.db")}, 1, "pg_dump"},
	} {
		t.Run(name, func(t *testing.T) {
			write(c.line)
			if code, out := backup(c.args...); code != c.code || !strings.Contains(out, c.want) || strings.Contains(out, "secret") {
				t.Errorf("%d: %s; want %d and %q", code, out, c.code, c.want)
			}
		})
	}
}
