package test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// webhookPath is the secret part of a webhook's address.
const webhookPath = "/services/T0000/B0000/secret-of-the-webhook"

// channel is where people are told of budgets: a webhook such as Slack's.
type channel struct {
	url    string
	status atomic.Int32       // what it answers
	tries  atomic.Int32       // messages that came, taken or not
	heard  chan string        // texts that were taken
	hang   chan chan struct{} // what the next message waits for
}

func newChannel(t *testing.T) *channel {
	c := &channel{heard: make(chan string, 100), hang: make(chan chan struct{}, 1)}
	c.status.Store(http.StatusOK)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var message struct{ Text string }
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &message)
		}
		if err != nil || r.Method != http.MethodPost || r.URL.Path != webhookPath {
			t.Errorf("%s %s %q: %v", r.Method, r.URL, body, err)
		}
		c.tries.Add(1)
		select {
		case wait := <-c.hang:
			select {
			case <-wait:
			case <-r.Context().Done():
				return
			}
		default:
		}
		status := int(c.status.Load())
		w.WriteHeader(status)
		io.WriteString(w, "echo of "+webhookPath)
		if status == http.StatusOK {
			c.heard <- message.Text
		}
	}))
	t.Cleanup(s.Close)
	c.url = s.URL + webhookPath
	return c
}

// next waits for a message and compares it.
func (c *channel) next(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-c.heard:
		if got != want {
			t.Fatalf("heard\n\t%s\nwant\n\t%s", got, want)
		}
	case <-time.After(harness.Patience):
		t.Fatalf("not within %s: %s", harness.Patience, want)
	}
}

// tellingChannel is a configuration whose webhook is named by the environment, and the environment.
func tellingChannel(c *channel, config harness.Config) (yaml string, env []string) {
	config.More += "notify: { url: \"${TEST_WEBHOOK}\", at: [\"80%\", \"100%\"] }\nhelp: \"Ask in #ai.\"\n"
	return config.YAML(), []string{"TEST_WEBHOOK=" + c.url}
}

// hundred is an answer that costs 100 tokens, for which 118 are reserved.
var hundred = fakeopenai.Answer{Usage: []string{`{"prompt_tokens":10,"completion_tokens":90,"total_tokens":100}`}}

func wantNoWebhook(t *testing.T, p *harness.Program) {
	t.Helper()
	for name, text := range map[string]string{"log": p.Stderr(), "output": p.Stdout(), "metrics": p.Metrics(t).Text} {
		if strings.Contains(text, webhookPath) || strings.Contains(text, "secret-of-the-webhook") || strings.Contains(text, "T0000") {
			t.Errorf("the %s shows the webhook's address:\n%s", name, text)
		}
	}
}

// Two thresholds, and a restart between them: each is told once, with the figures as they are, soon after the call.
func TestPeopleAreToldOnce(t *testing.T) {
	up, c := fakeopenai.New(t), newChannel(t)
	up.Always(model, hundred)
	yaml, env := tellingChannel(c, harness.Config{Upstream: up.URL, Limits: []string{"1000 tokens in total", "1m tokens per minute"}, BobLimits: []string{"1200 tokens each quarter, observe only"}})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func() *harness.Program {
		p := harness.Launch(t, dir, env, "serve", "-config", "config.yaml")
		p.URL, p.Admin = "http://"+p.AwaitListening(t, "proxy"), "http://"+p.AwaitListening(t, "admin")
		return p
	}
	body := ask(`"max_tokens": 100`)
	p := start()
	for range 8 {
		p.Chat(t, harness.Alice, body).WantOK(t)
	}
	settled := time.Now()
	c.next(t, `key alice has used 80 % of "1000 tokens in total": 800 of 1,000 tokens. It never resets. Ask in #ai.`)
	if took := time.Since(settled); took > 10*time.Second {
		t.Errorf("people were told %s after the call", took)
	} else {
		t.Logf("people were told %s after the call", took.Round(time.Millisecond))
	}
	wantNoWebhook(t, p)
	p.Stop(t)

	p = start()
	p.Chat(t, harness.Alice, body).WantOK(t)
	if e := p.Chat(t, harness.Alice, body).WantError(t, http.StatusTooManyRequests); e.CodeText() != "insufficient_quota" {
		t.Errorf("the last call ended with %+v", e)
	}
	c.next(t, `key alice has used 90 % of "1000 tokens in total": 900 of 1,000 tokens. A call was refused, as too little is left for it; only smaller ones pass, and it never resets. Ask in #ai.`)
	for range 12 {
		p.Chat(t, harness.Bob, body).WantOK(t)
	}
	select {
	case got := <-c.heard:
		if !strings.HasPrefix(got, "key bob has used ") || !strings.Contains(got, "It is only observed, so nothing is refused. It resets on ") {
			t.Errorf("heard %s", got)
		}
	case <-time.After(harness.Patience):
		t.Fatal("nobody was told of bob")
	}
	harness.Eventually(t, "nobody waits to be told", func() bool {
		waiting, found := p.Metrics(t).Sum("tokenfare_notices_waiting")
		delivered, _ := p.Metrics(t).Sum("tokenfare_notices_total", "result", "delivered")
		return found && waiting == 0 && delivered >= 2
	})
	wantNoWebhook(t, p)
}

// A receiver that is down is tried until it is up, and then told once. Meanwhile its address shows nowhere.
func TestPeopleAreToldWhenTheReceiverIsUpAgain(t *testing.T) {
	t.Parallel()
	up, c := fakeopenai.New(t), newChannel(t)
	up.Always(model, hundred)
	c.status.Store(http.StatusInternalServerError)
	yaml, env := tellingChannel(c, harness.Config{Upstream: up.URL, Limits: []string{"1000 tokens in total"}})
	p := harness.StartYAML(t, yaml, env...)
	body := ask(`"max_tokens": 100`)
	for range 8 {
		p.Chat(t, harness.Alice, body).WantOK(t)
	}
	p.AwaitLog(t, "the receiver's answer", func(l harness.Line) bool {
		return l.String("level") == "ERROR" && l.String("error") == "the webhook answered 500"
	})
	p.Chat(t, harness.Alice, body).WantOK(t)
	harness.Eventually(t, "it is tried again", func() bool { return c.tries.Load() >= 2 })
	c.status.Store(http.StatusOK)
	c.next(t, `key alice has used 90 % of "1000 tokens in total": 900 of 1,000 tokens. It never resets. Ask in #ai.`)
	harness.Eventually(t, "that is counted", func() bool {
		failed, _ := p.Metrics(t).Sum("tokenfare_notices_total", "result", "failed")
		delivered, _ := p.Metrics(t).Sum("tokenfare_notices_total", "result", "delivered")
		return failed >= 2 && delivered == 1
	})
	wantNoWebhook(t, p)
}

// A receiver that hangs holds up no call, and not the end of the program.
func TestASlowReceiverHoldsUpNobody(t *testing.T) {
	t.Parallel()
	up, c := fakeopenai.New(t), newChannel(t)
	up.Always(model, hundred)
	release := make(chan struct{})
	c.hang <- release
	yaml, env := tellingChannel(c, harness.Config{Upstream: up.URL, Limits: []string{"1000 tokens each quarter"}})
	p := harness.StartYAML(t, yaml, env...)
	body := ask(`"max_tokens": 100`)
	for range 8 {
		p.Chat(t, harness.Alice, body).WantOK(t)
	}
	harness.Eventually(t, "the receiver hangs", func() bool { return c.tries.Load() == 1 })
	began := time.Now()
	for range 20 {
		p.Chat(t, harness.Bob, body).WantOK(t)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("20 calls took %s while the receiver hung", took)
	}
	if n := c.tries.Load(); n != 1 {
		t.Errorf("the receiver got %d messages meanwhile", n)
	}
	began = time.Now()
	p.Stop(t)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the program took %s to end", took)
	}
	close(release)
}

// The webhook can be added, and replaced, while the program runs.
func TestAWebhookIsAddedByAReload(t *testing.T) {
	t.Parallel()
	up, c := fakeopenai.New(t), newChannel(t)
	up.Always(model, hundred)
	config := harness.Config{Upstream: up.URL, Limits: []string{"1000 tokens in total"}}
	p := harness.StartYAML(t, config.YAML())
	for range 8 {
		p.Chat(t, harness.Alice, ask(`"max_tokens": 100`)).WantOK(t)
	}
	secret := filepath.Join(t.TempDir(), "webhook")
	if err := os.WriteFile(secret, []byte(c.url+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config.More = "notify: { url_file: " + secret + ", at: 75% }\n"
	p.Rewrite(t, config.YAML())
	c.next(t, `key alice has used 80 % of "1000 tokens in total": 800 of 1,000 tokens. It never resets.`)
}

// tokenfare notify -test posts one message, or says why it could not.
func TestTheWebhookCanBeTried(t *testing.T) {
	t.Parallel()
	c := newChannel(t)
	yaml, env := tellingChannel(c, harness.Config{Upstream: "http://127.0.0.1:1/v1", Limits: []string{"1000 tokens in total"}})
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := harness.Run(t, dir, env, "notify", "-test", "-config", path); code != 0 || out != "the webhook took the message\n" {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	c.next(t, "This is a test: people will be told here when 80 % or 100 % of a budget is used. Ask in #ai.")
	c.status.Store(http.StatusNotFound)
	if _, errs, code := harness.Run(t, dir, env, "notify", "-test", "-config", path); code != 1 || errs != "tokenfare notify: the webhook answered 404: perhaps it was removed, or its address is not whole\n" {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if out, errs, code := harness.Run(t, dir, env, "check", "-config", path); code != 0 || !strings.Contains(out, "The webhook is told when 80 % or 100 %") || strings.Contains(out+errs, "T0000") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}
