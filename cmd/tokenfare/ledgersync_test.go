package main

import (
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// journalOf is the name of a file of the journal, empty if there is none.
func journalOf(t *testing.T, url string) string {
	t.Helper()
	files, err := filepath.Glob(strings.TrimPrefix(url, "sqlite:") + "-tail*")
	if err != nil || len(files) == 0 {
		return ""
	}
	return filepath.Base(files[0])
}

// What is said of how long rows may be on their way to the disk is what the ledger is opened with.
func TestLedgerSync(t *testing.T) {
	for said, want := range map[string]struct {
		sync, late time.Duration
		journal    bool
		warned     bool
	}{
		"":                                    {defaultSync, defaultSync, true, false},
		`{ sync: 5ms }`:                       {5 * time.Millisecond, 5 * time.Millisecond, true, false},
		`{ sync: 1s }`:                        {time.Second, time.Second, true, false},
		`{ sync: always }`:                    {syncAlways, defaultSync, false, false},
		`{ url: "postgres://h/d" }`:           {defaultSync, defaultSync, false, false},
		`{ url: "postgres://h/d", sync: 1s }`: {time.Second, time.Second, false, true},
	} {
		t.Run(said, func(t *testing.T) {
			text := "upstreams: { up: { url: \"http://localhost:1/v1\" } }\nkeys: { a: { hash: \"" + hashOf("tf-secret-of-a") + "\", limits: none } }\n"
			if said != "" {
				text += "ledger: " + said + "\n"
			}
			c := parseTest(t, text)
			_, warnings := compileTest(t, c)
			if c.Ledger.Sync != want.sync || c.Ledger.late() != want.late {
				t.Errorf("sync is %v and rows wait for %v, want %v and %v", c.Ledger.Sync, c.Ledger.late(), want.sync, want.late)
			}
			if warned := slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, "ledger.sync") }); warned != want.warned {
				t.Errorf("warnings are %q", warnings)
			}
			if isPostgres(c.Ledger.URL) {
				return
			}
			c.Ledger.URL = "sqlite:" + filepath.Join(t.TempDir(), "usage.db")
			b, err := openBooks(t.Context(), c.Ledger, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			b.run(t.Context())
			if err := b.ledger().Begin(&ledger.Begin{Exchange: b.ledger().IDs().Next()}).Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			kept := strings.HasPrefix(journalOf(t, c.Ledger.URL), "usage.db-tail")
			if kept != want.journal {
				t.Errorf("the row was in a journal: %v, want %v", kept, want.journal)
			}
			if err := b.close(); err != nil {
				t.Fatal(err)
			}
			if left := journalOf(t, c.Ledger.URL); left != "" {
				t.Errorf("%s is left of the journal", left)
			}
		})
	}
}
