package test

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	official "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/sashabaranov/go-openai"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// shelf is where a ledger is kept that a test can make unwritable.
type shelf struct {
	path        string // of the ledger
	block, free func()
}

// shelves are the ways in which a ledger cannot be written. The first needs root.
var shelves = map[string]func(t *testing.T) (shelf, bool){
	"the disk is full": func(t *testing.T) (shelf, bool) {
		dir := filepath.Join(t.TempDir(), "small")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", dir).CombinedOutput(); err != nil {
			t.Logf("not run, as it takes a small disk to fill: %v %s", err, out)
			return shelf{}, false
		}
		t.Cleanup(func() {
			if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
				t.Errorf("umount: %v %s", err, out)
			}
		})
		filler := filepath.Join(dir, "filler")
		return shelf{
			path: filepath.Join(dir, "usage.db"),
			block: func() {
				if err := os.WriteFile(filler, make([]byte, 4<<20), 0o600); err == nil {
					t.Fatal("4 MiB fit on a disk of two")
				}
			},
			free: func() {
				if err := os.Remove(filler); err != nil {
					t.Fatal(err)
				}
			},
		}, true
	},
	"another program writes and writes": func(t *testing.T) (shelf, bool) {
		path := filepath.Join(t.TempDir(), "usage.db")
		var db *sql.DB
		var tx *sql.Tx
		return shelf{
			path: path,
			block: func() {
				var err error
				if db, err = sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=busy_timeout(5000)"); err != nil {
					t.Fatal(err)
				}
				if tx, err = db.BeginTx(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
			},
			free: func() {
				if err := errors.Join(tx.Rollback(), db.Close()); err != nil {
					t.Fatal(err)
				}
			},
		}, true
	},
}

// onShelf runs the program with its ledger on a shelf.
func onShelf(t *testing.T, f shelf, onFailure string) (*fakeopenai.Server, *harness.Program) {
	t.Helper()
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{
		Upstream: up.URL, Limits: []string{"1000000 tokens in total"},
		More: fmt.Sprintf("ledger: { url: %q, on_failure: %s }\n", "sqlite:"+f.path, onFailure),
	})
	return up, p
}

// askOnce makes one call with openai-go and returns how it failed.
func askOnce(t *testing.T, p *harness.Program) error {
	t.Helper()
	client := official.NewClient(option.WithAPIKey(harness.Alice), option.WithBaseURL(p.URL+"/v1"), option.WithMaxRetries(0))
	_, err := client.Chat.Completions.New(t.Context(), openaiGoParams())
	return err
}

// askUntilRefused makes calls until the ledger is found unwritable, which is when something has to be written: for a second the journal may
// stand in for it.
func askUntilRefused(t *testing.T, p *harness.Program) {
	t.Helper()
	harness.Eventually(t, "a call is refused, as the ledger cannot be written", func() bool { return askOnce(t, p) != nil })
}

// While the ledger cannot be written, new calls are refused and cost nothing; once it can be, all goes on, and nothing is missing.
func TestUnwritableLedgerRefuses(t *testing.T) {
	t.Parallel()
	for name, make := range shelves {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, ok := make(t)
			if !ok {
				return
			}
			up, p := onShelf(t, f, "refuse")
			if err := askOnce(t, p); err != nil {
				t.Fatal(err)
			}
			f.block()
			askUntilRefused(t, p)

			before := len(up.Calls())
			began := time.Now()
			err := askOnce(t, p)
			if known, ok := errors.AsType[*official.Error](err); !ok || known.StatusCode != http.StatusServiceUnavailable || known.Code != "ledger_unavailable" || known.Type != "server_error" {
				t.Errorf("openai-go: %v", err)
			}
			_, err = goOpenAI(p, harness.Alice).CreateChatCompletion(t.Context(), goOpenAIRequest())
			if known, ok := errors.AsType[*openai.APIError](err); !ok || known.HTTPStatusCode != http.StatusServiceUnavailable || known.Code != "ledger_unavailable" {
				t.Errorf("go-openai: %v", err)
			}
			if os.Getenv("TOKENFARE_TEST") == "all" {
				seen := node(t, p, harness.Alice, "plain", model)
				if seen.Error == nil || seen.Error.Class != "InternalServerError" || seen.Error.Status != http.StatusServiceUnavailable || seen.Error.Code != "ledger_unavailable" {
					t.Errorf("node: %+v", seen.Error)
				}
			}
			p.Chat(t, harness.Alice, ask(`"stream": true`, `"max_tokens": 10`)).WantError(t, http.StatusServiceUnavailable)
			if took := time.Since(began); took > 4*time.Second && os.Getenv("TOKENFARE_TEST") != "all" {
				t.Errorf("refusals took %s: they should not wait", took)
			}
			up.WantCalls(t, before)

			m := p.Metrics(t)
			for metric, least := range map[string]float64{"tokenfare_ledger_unavailable_seconds": 0.0001, "tokenfare_ledger_queued_rows": 0} {
				if v, found := m.Sum(metric); !found || v < least {
					t.Errorf("%s is %v", metric, v)
				}
			}
			f.free()
			harness.Eventually(t, "the program serves again", func() bool { return askOnce(t, p) == nil })
			harness.Eventually(t, "the metrics say so", func() bool {
				v, found := p.Metrics(t).Sum("tokenfare_ledger_unavailable_seconds")
				return found && v == 0
			})
			if v, _ := p.Metrics(t).Sum("tokenfare_ledger_failures_total"); v == 0 && !strings.Contains(name, "another") { // that one is waited for
				t.Error("no commit has failed")
			}
			p.Stop(t)
			for text, want := range map[string]int{`"msg":"ledger unavailable"`: 1, `"msg":"ledger available again"`: 1} {
				if got := strings.Count(p.Stderr(), text); got != want {
					t.Errorf("the log says %s %d times, want %d", text, got, want)
				}
			}
			everyCallHasARow(t, up, f.path)
		})
	}
}

// everyCallHasARow fails the test unless each of the upstream's calls is in the ledger.
func everyCallHasARow(t *testing.T, up *fakeopenai.Server, path string) {
	t.Helper()
	b := readBook(t, path)
	if len(b.all) != len(up.Calls()) || b.unfinished > 0 {
		t.Errorf("the upstream saw %d calls, and the ledger has %d, %d of them without an end", len(up.Calls()), len(b.all), b.unfinished)
	}
	b.addsUp()
}

// With on_failure: serve, calls are served meanwhile, and recorded later.
func TestUnwritableLedgerServes(t *testing.T) {
	t.Parallel()
	for name, make := range shelves {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, ok := make(t)
			if !ok {
				return
			}
			up, p := onShelf(t, f, "serve")
			f.block()
			harness.Eventually(t, "the ledger is found unwritable", func() bool {
				if err := askOnce(t, p); err != nil {
					t.Fatal(err)
				}
				v, _ := p.Metrics(t).Sum("tokenfare_ledger_unavailable_seconds")
				return v > 0
			})
			began := time.Now()
			for range 20 {
				if err := askOnce(t, p); err != nil {
					t.Fatal(err)
				}
			}
			if took := time.Since(began); took > 4*time.Second {
				t.Errorf("20 calls took %s: they should not wait for the ledger", took)
			}
			if v, _ := p.Metrics(t).Sum("tokenfare_ledger_queued_rows"); v < 20 {
				t.Errorf("%v rows are queued, want those of 20 calls at least", v)
			}
			f.free()
			harness.Eventually(t, "all is recorded", func() bool {
				m := p.Metrics(t)
				queued, _ := m.Sum("tokenfare_ledger_queued_rows")
				failing, _ := m.Sum("tokenfare_ledger_unavailable_seconds")
				return queued == 0 && failing == 0
			})
			if lost, found := p.Metrics(t).Sum("tokenfare_ledger_lost_rows_total"); !found || lost != 0 {
				t.Errorf("%v rows are lost", lost)
			}
			p.Stop(t)
			if got := strings.Count(p.Stderr(), `"msg":"ledger unavailable"`); got != 1 || !strings.Contains(p.Stderr(), "served all the same") {
				t.Errorf("the log says so %d times", got)
			}
			everyCallHasARow(t, up, f.path)
		})
	}
}

// A program that is stopped while its ledger cannot be written tries to the last, and then says what it could not write: that is in its
// journal, and nothing is missing once somebody opens the ledger.
func TestStopWhileUnwritable(t *testing.T) {
	t.Parallel()
	f, _ := shelves["another program writes and writes"](t)
	up, p := onShelf(t, f, "refuse")
	if err := askOnce(t, p); err != nil {
		t.Fatal(err)
	}
	f.block()
	askUntilRefused(t, p)
	p.Terminate(t)
	p.WantExit(t, 1)
	if !strings.Contains(p.Stderr(), "rows are in its journal") {
		t.Errorf("stderr:\n%s", p.Stderr())
	}
	f.free()
	b := readBook(t, f.path)
	if len(b.all) != len(up.Calls()) {
		t.Errorf("the ledger has %d of %d calls", len(b.all), len(up.Calls()))
	}
	again := p.Restart(t)
	if err := askOnce(t, again); err != nil {
		t.Error(err)
	}
	again.Stop(t)
}
