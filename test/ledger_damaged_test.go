package test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// A journal that is damaged between a kill and the next start is no reason not to serve. But it is said, and it is kept: calls are charged to
// nobody that were delivered, and the books balance without them.
func TestADamagedJournalIsSaid(t *testing.T) {
	up := fakeopenai.New(t)
	path := filepath.Join(t.TempDir(), "usage.db")
	config := withLedger(up, path, "1m tokens in total")
	config.More = strings.Replace(config.More, "sync: always", "sync: 1s", 1)
	p := harness.Start(t, config)
	for range 6 {
		p.Chat(t, harness.Alice, ask(`"max_tokens": 5`)).WantOK(t)
	}
	if n, found := p.Metrics(t).Sum("tokenfare_ledger_journal_failures_total"); n != 0 || !found {
		t.Errorf("%v writes to the journal failed, or nobody knows: %v", n, found)
	}
	p.Kill(t)
	damaged := 0
	for _, tail := range []string{path + "-tail0", path + "-tail1"} {
		content, err := os.ReadFile(tail)
		if err != nil {
			continue
		}
		content[100] ^= 1
		if err := os.WriteFile(tail, content, 0o600); err != nil {
			t.Fatal(err)
		}
		damaged++
	}
	p = p.Restart(t)
	p.Chat(t, harness.Alice, ask(`"max_tokens": 5`)).WantOK(t)
	if n := strings.Count(p.Stderr(), `"ledger journal damaged"`); n != damaged || n == 0 {
		t.Errorf("%d files are damaged, and the log has:\n%s", damaged, p.Stderr())
	}
	kept, err := filepath.Glob(path + "-tail*.bad-*")
	if err != nil || len(kept) != damaged {
		t.Errorf("%v are kept, %v", kept, err)
	}
	p.Stop(t)
	stdout, stderr, status := harness.Run(t, t.TempDir(), nil, "ledger", "verify", "-ledger", "sqlite:"+path)
	if status != 0 || !strings.Contains(stdout, "damaged journal") || !strings.Contains(stdout, filepath.Base(kept[len(kept)-1])) {
		t.Errorf("%d: %s%s", status, stdout, stderr)
	}
	p = p.Restart(t)
	if strings.Contains(p.Stderr(), "ledger journal") {
		t.Errorf("the next start says it again: %s", p.Stderr())
	}
	if got := p.Chat(t, harness.Alice, ask(`"max_tokens": 5`)); got.Status != http.StatusOK {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}
