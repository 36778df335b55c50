package test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// configure writes a configuration into a directory.
func configure(t *testing.T, dir string, up *fakeopenai.Server, ledger string) {
	t.Helper()
	c := harness.Config{Upstream: up.URL, Limits: []string{"1000000 tokens in total"}, More: fmt.Sprintf("ledger: { url: %q }\n", ledger)}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(c.YAML()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// waiting fails the test unless the program lives, takes no calls, and says why.
func waiting(t *testing.T, p *harness.Program, cause string) {
	t.Helper()
	p.URL, p.Admin = "http://"+p.AwaitListening(t, "proxy"), "http://"+p.AwaitListening(t, "admin")
	line := p.AwaitLog(t, "that the ledger cannot be opened", func(l harness.Line) bool { return l.String("msg") == "ledger unavailable" })
	if line.String("level") != "ERROR" || !strings.Contains(line.String("error"), cause) || !strings.Contains(line.String("then"), "no call is served") {
		t.Errorf("the log says %v; want an error that says %q, and what comes of it", line, cause)
	}
	for _, base := range []string{p.URL, p.Admin} {
		if got := p.Do(t, harness.Request(t, http.MethodGet, base+"/healthz", "", "")); got.Status != http.StatusOK {
			t.Errorf("%s/healthz: %d", base, got.Status)
		}
		got := p.Do(t, harness.Request(t, http.MethodGet, base+"/readyz", "", ""))
		if got.Status != http.StatusServiceUnavailable || got.Body != "ledger unavailable\n" {
			t.Errorf("%s/readyz: %d %q", base, got.Status, got.Body)
		}
	}
	if code := p.Chat(t, harness.Alice, ask()).WantError(t, http.StatusServiceUnavailable).CodeText(); code != "ledger_unavailable" {
		t.Errorf("a call is refused as %s", code)
	}
	if v, found := p.Metrics(t).Sum("tokenfare_ledger_unavailable_seconds"); !found || v <= 0 {
		t.Errorf("tokenfare_ledger_unavailable_seconds is %v, found: %v", v, found)
	}
	if got := p.Do(t, harness.Request(t, http.MethodGet, p.Admin+"/budgets", "", "")); got.Status != http.StatusServiceUnavailable {
		t.Errorf("/budgets: %d %s", got.Status, got.Body)
	}
}

// A program that is killed and started again while the disk is full lives, serves nothing, and goes on without another start when
// there is room: with the budgets that there were, whatever is to be done on failure.
func TestStartOnAFullDisk(t *testing.T) {
	t.Parallel()
	for _, onFailure := range []string{"refuse", "serve"} {
		t.Run(onFailure, func(t *testing.T) {
			t.Parallel()
			f, ok := shelves["the disk is full"](t)
			if !ok {
				return
			}
			up, p := onShelf(t, f, onFailure)
			for range 3 {
				p.Chat(t, harness.Alice, ask(`"max_tokens": 10`)).WantOK(t)
			}
			p.Kill(t)
			if err := os.Remove(f.path + "-shm"); err != nil { // as after a power loss: the program makes it anew when it opens the ledger
				t.Fatal(err)
			}
			f.block()
			p = p.Relaunch(t)
			waiting(t, p, "the disk of "+f.path+" is full")
			p.Terminate(t) // it can be stopped
			p.WantExit(t, 0)
			p = p.Relaunch(t)
			waiting(t, p, "the disk of "+f.path+" is full")
			calls := len(up.Calls())
			f.free()
			harness.Eventually(t, "it is ready", func() bool {
				return p.Do(t, harness.Request(t, http.MethodGet, p.URL+"/readyz", "", "")).Status == http.StatusOK
			})
			if left := p.Remaining(t, "alice"); left >= 1_000_000 {
				t.Errorf("%d of a million tokens are left: the budget began anew", left)
			}
			p.Chat(t, harness.Alice, ask(`"max_tokens": 10`)).WantOK(t)
			up.WantCalls(t, calls+1)
			if v, found := p.Metrics(t).Sum("tokenfare_ledger_unavailable_seconds"); !found || v != 0 {
				t.Errorf("tokenfare_ledger_unavailable_seconds is %v, found: %v", v, found)
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

// The same with a Postgres that is started later than the program.
func TestStartBeforePostgres(t *testing.T) {
	t.Parallel()
	pg, ok := harness.StartPostgres(t)
	if !ok {
		return
	}
	url := pg.NewDatabase(t)
	pg.Stop(t)
	up := fakeopenai.New(t)
	dir := t.TempDir()
	configure(t, dir, up, url)
	p := harness.Launch(t, dir, nil, "serve", "-config", "config.yaml")
	waiting(t, p, "start Postgres")
	pg.Start(t)
	harness.Eventually(t, "a call is served", func() bool { return p.Chat(t, harness.Alice, ask()).Status == http.StatusOK })
	p.Stop(t)
}

// What no time mends ends the program, as ever.
func TestStartThatCannotSucceed(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	for url, says := range map[string]string{
		"sqlite:/no/such/directory/usage.db": "directory",
		"postgres://alice@[::1/usage":        "its URL cannot be read",
	} {
		dir := t.TempDir()
		configure(t, dir, up, url)
		if stdout, stderr, status := harness.Run(t, dir, nil, "serve", "-config", "config.yaml"); status != 1 || !strings.Contains(stderr, says) {
			t.Errorf("%s: status %d, %s%s", url, status, stdout, stderr)
		}
	}
}
