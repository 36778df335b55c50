package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/tokenfare/tokenfare/cmd/tokenfare/simulated"
	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
)

// runningDemo is the demo command, started, and the lines it prints.
type runningDemo struct {
	t     *testing.T
	lines chan string
	stop  context.CancelFunc
	code  chan int
}

func startDemo(t *testing.T, args ...string) *runningDemo {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a line that never comes must not hang the suite
	read, write := io.Pipe()
	d := &runningDemo{t: t, lines: make(chan string, 1000), stop: cancel, code: make(chan int, 1)}
	go func() {
		d.code <- runDemo(ctx, args, write, t.Output())
		write.Close()
	}()
	go func() { // calls end once their line is written, so somebody must be reading while they run
		defer close(d.lines)
		for s := bufio.NewScanner(read); s.Scan(); {
			d.lines <- s.Text()
		}
	}()
	t.Cleanup(cancel)
	return d
}

// until takes lines up to the first that matches and returns its last group.
func (d *runningDemo) until(pattern string) string {
	d.t.Helper()
	var seen []string
	for line := range d.lines {
		if m := regexp.MustCompile(pattern).FindStringSubmatch(line); m != nil {
			return m[len(m)-1]
		}
		seen = append(seen, line)
	}
	d.t.Fatalf("the demo ended without a line like %q, but with\n%s", pattern, strings.Join(seen, "\n"))
	return ""
}

func bobsCall(ctx context.Context, base string) (*http.Response, error) {
	body := `{"model":"gpt-5-mini","max_completion_tokens":190,"stream":true,"messages":[{"role":"user","content":"Tell me a long story"}]}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer sk-demo-bob")
	r.Header.Set("Content-Type", "application/json")
	return new(http.Transport{DisableKeepAlives: true}).RoundTrip(r)
}

func TestTheDemoDoesWhatItsGuideSays(t *testing.T) {
	d := startDemo(t, "-listen", "127.0.0.1:0")
	base := d.until(`base URL +(\S+)$`)
	metrics := d.until(`metrics +(\S+)$`)
	d.until(`Ctrl-C`)
	d.until(`^$`)

	config := openai.DefaultConfig("sk-demo-alice")
	config.BaseURL = base
	answer, err := openai.NewClientWithConfig(config).CreateChatCompletion(t.Context(), openai.ChatCompletionRequest{
		Model: demoModel, MaxCompletionTokens: 5, Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "hello"}},
	})
	if err != nil || answer.Usage.CompletionTokens != 5 {
		t.Errorf("alice's call: usage %+v, %v", answer.Usage, err)
	}
	d.until(`  alice  gpt-4o-mini  200  reserved 13 +used 13 +tokens  \$0\.0000\d+ +\d+\.\ds$`)

	ctx, hangUp := context.WithCancel(t.Context())
	first, err := bobsCall(ctx, base) // returns with the headers: its answer is still being written
	if err != nil || first.StatusCode != http.StatusOK {
		t.Fatalf("bob's first call: %v, %v", first, err)
	}
	second, err := bobsCall(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(second.Body)
	second.Body.Close()
	wait := second.Header.Get("Retry-After")
	if second.StatusCode != http.StatusTooManyRequests || wait == "" || !bytes.Contains(body, []byte("600 tokens per minute, burst 300")) {
		t.Errorf("bob's second call: %s, Retry-After %q: %s; want a 429 that names the budget and the wait", second.Status, wait, body)
	}
	d.until(`  bob    gpt-5-mini  429  refused by budget "600 tokens per minute, burst 300"  wait \d+\.\ds$`)
	hangUp()
	first.Body.Close()
	d.until(`  bob    gpt-5-mini  200  reserved 202 .*cut off`)

	page, err := http.Get(metrics) //nolint:noctx // the listener is ours and lives in this process
	if err != nil || page.StatusCode != http.StatusOK {
		t.Errorf("metrics: %v, %v", page, err)
	} else {
		page.Body.Close()
	}

	d.stop()
	if code := <-d.code; code != 0 {
		t.Errorf("exit code %d after Ctrl-C, want 0", code)
	}
}

// The guide promises a wait that follows from bob's budget and from how long his first answer takes.
func TestTheWaitInTheGuideIsTheTrueOne(t *testing.T) {
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		t.Fatal(err)
	}
	spec, err := demoSpec("http://unused/v1")
	if err != nil {
		t.Fatal(err)
	}
	bucket := spec.Keys[1].Limits[0]
	estimator := cost.NewEstimator()
	count := func(model, text string) int64 { return estimator.Count(catalog.Model(model), text) }
	synctest.Test(t, func(t *testing.T) {
		memory := limiter.NewMemory()
		rule := limiter.TokenBucket{Size: bucket.Capacity(), Refill: bucket.Amount, Every: bucket.Every}
		prompt := 3 + 3 + count(demoModel, "user") + count(demoModel, "Tell me a long story")
		charge := []limiter.Charge{{Budget: memory.Budget("bob", rule), N: prompt + demoMaxOutput}}
		held, decision, err := memory.Reserve(t.Context(), charge)
		if err != nil || !decision.OK {
			t.Fatalf("bob's first call: %+v, %v", decision, err)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions", strings.NewReader(
			`{"model":"gpt-5-mini","max_completion_tokens":190,"messages":[{"role":"user","content":"Tell me a long story"}]}`,
		))
		r.Header.Set("Authorization", "Bearer k")
		w := httptest.NewRecorder()
		simulated.New(simulated.Options{Count: count}).ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), `"total_tokens": 202`) {
			t.Fatalf("bob's call does not use all it may: %s", w.Body)
		}
		if err := held.Settle(t.Context(), []int64{202}); err != nil {
			t.Fatal(err)
		}
		_, decision, err = memory.Reserve(t.Context(), charge)
		if err != nil || decision.OK {
			t.Fatalf("bob's second call: %+v, %v; want it refused", decision, err)
		}
		if seconds := (decision.RetryAfter + time.Second - 1) / time.Second; seconds != demoWait {
			t.Errorf("the second call must wait %v; the guide says %d seconds", decision.RetryAfter, demoWait)
		}
		if decision.RetryAfter > 8*time.Second {
			t.Errorf("a wait of %v is more than openai-go has patience for", decision.RetryAfter)
		}
	})
}

func TestTheGuideIsPlainUnlessItGoesToATerminal(t *testing.T) {
	guide := demoGuide{BaseURL: "http://h/v1", MetricsURL: "http://m/metrics", Model: demoModel, Keys: demoKeys[:], MaxOutput: 1, Wait: 2}
	var plain, bold bytes.Buffer
	if err := guide.write(&plain, false); err != nil {
		t.Fatal(err)
	}
	if err := guide.write(&bold, true); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(plain.String(), "\x1b") {
		t.Errorf("escape codes in the plain guide:\n%q", plain.String())
	}
	if stripped := regexp.MustCompile("\x1b\\[[01]m").ReplaceAllString(bold.String(), ""); stripped != plain.String() || stripped == bold.String() {
		t.Errorf("the bold guide is not the plain one with emphasis:\n%s", bold.String())
	}
	if isTerminal(&plain) {
		t.Error("a buffer is taken for a terminal")
	}
}

func TestTheGuideIsAligned(t *testing.T) {
	var b bytes.Buffer
	guide := demoGuide{BaseURL: "http://h/v1", MetricsURL: "http://m/metrics", Model: demoModel, Keys: demoKeys[:], MaxOutput: 1, Wait: 2}
	if err := guide.write(&b, false); err != nil {
		t.Fatal(err)
	}
	const want = `
  base URL   http://h/v1
  alice      sk-demo-alice   200k tokens per minute, $10 each month
  bob        sk-demo-bob     600 tokens per minute, burst 300
  metrics    http://m/metrics
`
	if !strings.Contains(b.String(), want) {
		t.Errorf("the table of the guide is not\n%s\nin\n%s", want, b.String())
	}
	for line := range strings.Lines(b.String()) {
		if len(line) > 140 {
			t.Errorf("a line of %d characters: %s", len(line), line)
		}
	}
}

func TestTheDemoFindsAnotherPortOnlyIfNoneWasNamed(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if got := freeOr(taken.Addr().String()); got != freePort {
		t.Errorf("freeOr(a taken port) = %q, want %q", got, freePort)
	}
	var stdout, stderr bytes.Buffer
	if code := runDemo(t.Context(), []string{"-listen", taken.Addr().String()}, &stdout, &stderr); code != 1 {
		t.Errorf("exit code %d for a taken port, want 1", code)
	}
	if !strings.Contains(stderr.String(), "is in use by another program") || stdout.Len() > 0 {
		t.Errorf("stdout %q, stderr %q; want the cause and the fix alone", &stdout, &stderr)
	}
}

func TestTheDemoTellsHowItIsUsed(t *testing.T) {
	for _, tc := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"-h"}, 0, "tokenfare demo -listen", ""},
		{[]string{"extra"}, 2, "", `unexpected "extra"`},
		{[]string{"-port", "1"}, 2, "", "-port"},
	} {
		var stdout, stderr bytes.Buffer
		code := runDemo(t.Context(), tc.args, &stdout, &stderr)
		if code != tc.code || !strings.Contains(stdout.String(), tc.stdout) || !strings.Contains(stderr.String(), tc.stderr) {
			t.Errorf("demo %q: code %d, stdout %q, stderr %q", tc.args, code, &stdout, &stderr)
		}
	}
}
