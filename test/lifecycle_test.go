package test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// SIGTERM lets running streams end, takes no new calls, and ends with status 0.
func TestTermDrains(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	release := make(chan struct{})
	up.Always(model, fakeopenai.Answer{Text: words(20), Pause: release, PauseAt: 5})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1000000 tokens in total"}, More: "timeouts: { shutdown_delay: 300ms }\n"})
	resp := p.Open(t.Context(), t, harness.Alice, ask(`"stream": true`, `"max_tokens": 50`))
	readEvents(t, resp.Body, 5)

	p.Terminate(t)
	harness.Eventually(t, "/readyz says no, or the listener is closed", func() bool {
		ready, err := p.HTTP.Get(p.URL + "/readyz")
		if err != nil {
			return true
		}
		defer ready.Body.Close()
		return ready.StatusCode == http.StatusServiceUnavailable
	})
	harness.Eventually(t, "new calls are not taken", func() bool {
		late, err := p.HTTP.Do(harness.Request(t, http.MethodGet, p.URL+"/healthz", "", ""))
		if err != nil {
			return true
		}
		late.Body.Close()
		return false
	})
	select {
	case <-p.Exited():
		t.Fatal("the program left a running stream behind")
	default:
	}
	close(release)
	rest := harness.Read(resp)
	if rest.Err != nil || !strings.HasSuffix(rest.Body, "data: [DONE]\n\n") {
		t.Errorf("the running stream was cut: %v %q", rest.Err, rest.Body)
	}
	p.WantExit(t, 0)
}

// From SIGTERM on, answers close their connections: clients that keep theirs open go elsewhere before the listener closes, and
// no call of theirs is on its way when it does.
func TestDrainSendsClientsElsewhere(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	p := harness.Start(t, harness.Config{Upstream: up.URL, More: "timeouts: { shutdown_delay: 1s }\n"})
	ask := func(members string) *http.Response {
		t.Helper()
		resp := p.Open(t.Context(), t, harness.Alice, ask(`"max_tokens": 50`, members))
		harness.Read(resp)
		return resp
	}
	if resp := ask(`"stream": false`); resp.Close {
		t.Error("a connection was closed before anybody wanted the program to end")
	}
	p.Terminate(t)
	harness.Eventually(t, "/readyz says no", func() bool { return p.Get(t, "", "/readyz").Status == http.StatusServiceUnavailable })
	for _, members := range []string{`"stream": false`, `"stream": true`} {
		if resp := ask(members); resp.StatusCode != http.StatusOK || !resp.Close {
			t.Errorf("%s: status %d, connection closed: %v", members, resp.StatusCode, resp.Close)
		}
	}
}

// A stream that does not end is broken off when the drain time is over; the exit is still an orderly one.
func TestDrainIsBounded(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Text: words(20), Pause: fakeopenai.Forever(), PauseAt: 5})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1000000 tokens in total"}, More: "timeouts: { drain: 300ms }\n"})
	resp := p.Open(t.Context(), t, harness.Alice, ask(`"stream": true`, `"max_tokens": 50`))
	readEvents(t, resp.Body, 5)
	p.Stop(t)
	if rest := harness.Read(resp); rest.Err == nil {
		t.Error("the stream ended cleanly although it was cut")
	}
	<-up.Last(t).Ended()
}

// The program does not end before the calls that it cuts are settled: each has its line in the log by then.
func TestCutCallsAreSettledBeforeTheEnd(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Text: words(20), Pause: fakeopenai.Forever(), PauseAt: 5})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1000000 tokens in total"}, More: "timeouts: { drain: 300ms }\n"})
	const calls = 300
	for range calls {
		readEvents(t, p.Open(t.Context(), t, harness.Alice, ask(`"stream": true`, `"max_tokens": 50`)).Body, 5)
	}
	p.Stop(t)
	before, _, stopped := strings.Cut(p.Stderr(), `"msg":"stopped"`)
	if n := strings.Count(before, `"ending":"broken_stream"`); n != calls || !stopped {
		t.Errorf("%d of %d calls were settled before the program stopped (%v)", n, calls, stopped)
	}
}

// Reloading changes limits and keeps what was consumed; a bad file changes nothing.
func TestReload(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{SpendAll: true})
	config := harness.Config{Upstream: up.URL, Limits: []string{"300 tokens in total"}}
	p := harness.StartYAML(t, config.YAML())
	body := ask(`"max_tokens": 100`)
	p.Chat(t, harness.Alice, body).WantOK(t)
	left := p.Remaining(t, "alice")

	// The amount changes and the limit moves to another place in the list: its counter is still the same.
	config.Limits = []string{"60 requests in any minute on gpt-5*", "1300 tokens in total"}
	reload(t, p, config.YAML(), func() bool {
		now, found := p.Metrics(t).Sum("rate_limit_tokens", "key", "alice", "budget", "1300 tokens in total")
		return found && int64(now) == left+1000
	})
	p.Chat(t, harness.Alice, body).WantOK(t)

	p.Rewrite(t, "listen: [nonsense\n")
	p.Signal(t, syscall.SIGHUP)
	p.AwaitLog(t, "the bad file is reported", func(l harness.Line) bool {
		return l.String("level") == "ERROR" || l.String("level") == "WARN"
	})
	p.Chat(t, harness.Alice, body).WantOK(t)

	// A key taken out of the file stops working at once.
	config.Limits = []string{"1300 tokens in total"}
	gone := strings.Replace(config.YAML(), harness.Hash(harness.Bob), harness.Hash("another"), 1)
	p.Chat(t, harness.Bob, body).WantOK(t)
	reload(t, p, gone, func() bool { return p.Chat(t, harness.Bob, body).Status == http.StatusUnauthorized })
}

// reload replaces the file and waits until the program works by it.
func reload(t *testing.T, p *harness.Program, yaml string, done func() bool) {
	t.Helper()
	p.Rewrite(t, yaml)
	p.Signal(t, syscall.SIGHUP)
	harness.Eventually(t, "the new configuration is in force", done)
}

// A file that cannot be used stops the start, with the place of the mistake.
func TestBadConfigStopsTheStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "bad.yaml")
	yaml := harness.Config{Upstream: "http://127.0.0.1:1/v1", Limits: []string{"200k tpm"}}.YAML()
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"serve", "-config", path}, {"check", "-config", path}} {
		stdout, stderr, status := harness.Run(t, dir, nil, command...)
		if status == 0 {
			t.Errorf("%v: status 0", command)
		}
		if !strings.Contains(stdout+stderr, "bad.yaml:8:") || !strings.Contains(stdout+stderr, "tokens per minute") {
			t.Errorf("%v names neither the place nor the fix:\n%s%s", command, stdout, stderr)
		}
	}
}

// Beyond loopback only configured keys are served.
func TestNoOpenDoor(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "open.yaml")
	yaml := "listen: \"0.0.0.0:0\"\nadmin: { listen: \"127.0.0.1:0\" }\nupstreams:\n  x: { url: \"http://127.0.0.1:1/v1\" }\nmodels:\n  \"*\": { upstream: x }\n"
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, status := harness.Run(t, dir, nil, "serve", "-config", path)
	if status == 0 || stderr == "" {
		t.Errorf("status %d, stderr %q: want a refusal that says why", status, stderr)
	}
}
