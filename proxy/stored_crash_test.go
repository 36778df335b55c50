package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
)

// copyLedger copies the files of a ledger as a process leaves them that is killed now.
func copyLedger(t *testing.T, from string) (to string) {
	t.Helper()
	to = filepath.Join(t.TempDir(), "usage.db")
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(from + end)
		if err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(to+end, data, 0o600); err != nil {
			t.Error(err)
		}
	}
	return to
}

// TestAKilledProcessLosesNothingOfAConversation: what was sent counts for the process after it, though nobody knows what became of it.
func TestAKilledProcessLosesNothingOfAConversation(t *testing.T) {
	for name, c := range map[string]struct{ path, body string }{
		"items": {"/v1/conversations/%s/items", putting(3000)},
		"said":  {"/v1/responses", `{"model":"gpt-4o-mini","max_output_tokens":50,"conversation":"%s","input":"` + words(3000) + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			stored := fakeopenai.NewStored()
			path := filepath.Join(t.TempDir(), "usage.db")
			v := newVault(t, path, stored)
			id := v.must(secret, "POST", "/v1/conversations", `{}`)
			short := fmt.Sprintf(recall, `,"conversation":"`+id+`"`)
			bare := v.as(secret, "POST", "/v1/responses", fmt.Sprintf(recall, "")).reserved(t)
			left := make(chan string, 1)
			up := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				left <- copyLedger(t, path)
				panic(http.ErrAbortHandler)
			}))
			defer up.Close()
			catalogPolicy(t, v.house, up.URL, v.spec)
			where, what := c.path, c.body
			if name == "items" {
				where = fmt.Sprintf(where, id)
			} else {
				what = fmt.Sprintf(what, id)
			}
			if got := v.as(secret, "POST", where, what); got.status != 502 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			v.close()
			next := newVault(t, <-left, stored)
			for range 2 { // and goes on to count, well or not
				if got := next.as(secret, "POST", "/v1/responses", short).reserved(t) - bare; got < 3000 {
					t.Errorf("the next process reserves %d tokens for 3000 words", got)
				}
			}
		})
	}
}

// TestProcessesThatShareALedgerSeeWhatIsSent: it is where others read it before it is sent.
func TestProcessesThatShareALedgerSeeWhatIsSent(t *testing.T) {
	v := freshVault(t)
	id := v.must(secret, "POST", "/v1/conversations", `{}`)
	var asked atomic.Int64
	v.stored.Think = func(int64) {
		asked.Add(1)
		rows, err := v.writer.Owned(t.Context(), "alice", []string{id, id + " begun", id + " ended"})
		has := map[string]int64{}
		for _, row := range rows {
			has[row.ID] = row.Tokens
		}
		if err != nil || has[id+" begun"]-has[id+" ended"] < 300 {
			t.Errorf("the ledger has %v, %v", has, err)
		}
	}
	for range 2 {
		v.must(secret, "POST", "/v1/responses", `{"model":"gpt-4o-mini","max_output_tokens":50,"conversation":"`+id+`","input":"`+words(300)+`"}`)
	}
	v.must(secret, "DELETE", "/v1/conversations/"+id, "")
	if rows, err := v.writer.Owned(t.Context(), "alice", []string{id, id + " begun", id + " ended"}); err != nil || len(rows) != 0 || asked.Load() != 2 {
		t.Errorf("a conversation that was deleted: %v, %v", rows, err)
	}
}
