package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
)

// run starts calls that the upstream has got when run returns, and returns where their answers come.
func (h *house) run(n int, body string) chan answer {
	h.t.Helper()
	running := make(chan answer, n)
	for range n {
		go func() { running <- h.chat(body) }()
	}
	for range n {
		<-h.asked
	}
	return running
}

// ends waits for calls that must have passed.
func (h *house) ends(running <-chan answer, n int) {
	h.t.Helper()
	for range n {
		if a := <-running; a.status != 200 {
			h.t.Errorf("a running call ended with %d %s", a.status, a.body)
		}
	}
}

func TestCallsAtOnce(t *testing.T) {
	release := make(chan struct{})
	h := newHouse(t, alice(t, "2 at once"), blockUntil(release, 8, 3))
	running := h.run(2, hi)
	for _, sdk := range []string{"js", "go"} {
		got := h.chat(hi, "X-Stainless-Lang", sdk)
		message, kind, _, code := got.errorOf(t)
		if got.status != 429 || kind != "requests" || code != "rate_limit_exceeded" || got.header.Get("x-should-retry") != "" {
			t.Errorf("%d, type %q, code %q, x-should-retry %q", got.status, kind, code, got.header.Get("x-should-retry"))
		}
		const want = `Too many requests at once for gpt-4o-mini: key alice, budget "2 at once" of your team's proxy (not OpenAI's): ` +
			`Limit 2, 2 calls are running, and one of them must end first. Please try again in 1s (a guess).`
		if message != want {
			t.Errorf("the message is\n%s, want\n%s", message, want)
		}
		for name, want := range map[string]string{
			"Retry-After": "1", "retry-after-ms": "1000", "x-tokenfare-budget": "key alice: 2 at once",
			"x-ratelimit-limit-at-once": "2", "x-ratelimit-remaining-at-once": "0",
			"x-ratelimit-limit-requests": "", "x-ratelimit-remaining-requests": "", // what SDKs pace themselves by is not meant
		} {
			if v := got.header.Get(name); v != want {
				t.Errorf("header %s: %q, want %q", name, v, want)
			}
		}
	}
	release <- struct{}{}
	h.ends(running, 1)
	third := h.run(1, hi)
	close(release)
	h.ends(running, 1)
	h.ends(third, 1)
	last := h.chat(hi)
	if last.status != 200 || last.header.Get("x-ratelimit-remaining-at-once") != "2" || last.header.Get("x-tokenfare-budget") != "key alice: 2 at once" {
		t.Errorf("%d, headers %v", last.status, last.header)
	}
}

func TestAPlaceIsFreeHoweverTheCallEnds(t *testing.T) {
	var do atomic.Pointer[http.HandlerFunc]
	h := newHouse(t, alice(t, "1 at once", "1000 tokens per minute, burst 100k"), func(w http.ResponseWriter, r *http.Request) { (*do.Load())(w, r) })
	for name, upstream := range map[string]http.HandlerFunc{
		"answered":   answerWith(200, plainAnswer(8, 3)),
		"error":      answerWith(500, `{"error":{"message":"no"}}`),
		"broken off": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"broken off in the middle": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: {}\n\n")
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
		"streamed": streamOf(3),
	} {
		do.Store(&upstream)
		for i := range 3 {
			if got := h.chat(hi); got.status == 429 {
				t.Errorf("%s: call %d finds the place taken: %s", name, i+1, got.body)
			}
		}
	}
	for _, body := range []string{"{", `{"model":"gpt-4o-mini","messages":[],"max_tokens":1000000}`} {
		if got := h.chat(body); got.status == 429 || got.status == 200 {
			t.Errorf("%s: %d", body, got.status)
		}
	}
	answered := answerWith(200, plainAnswer(8, 3))
	do.Store(&answered)
	if got := h.chat(hi); got.status != 200 {
		t.Errorf("in the end: %d %s", got.status, got.body)
	}
}

// streamOf is an upstream that streams words and keeps the connection a little longer than it needs.
func streamOf(words int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range words {
			io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":" red"}}]}`+"\n\n")
		}
		fmt.Fprintf(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":%d,\"total_tokens\":%d}}\n\ndata: [DONE]\n\n", words, words+8)
		http.NewResponseController(w).Flush()
		time.Sleep(time.Millisecond)
	}
}

// TestOneCallAfterTheOther: a client that never has more than one call under way is never told that it has. Many clients read a
// stream no further than [DONE].
func TestOneCallAfterTheOther(t *testing.T) {
	long := strings.Replace(plainAnswer(8, 3), "Hello there.", strings.Repeat("Hello there. ", 21_000), 1)
	for name, c := range map[string]struct {
		upstream http.HandlerFunc
		body     string
		end      string
		calls    int
	}{
		"stream":       {streamOf(3), strings.Replace(hi, "{", `{"stream":true,`, 1), "data: [DONE]", 100},
		"usage kept":   {streamOf(3), strings.Replace(hi, "{", `{"stream":true,"stream_options":{"include_usage":true},`, 1), "data: [DONE]", 100},
		"plain":        {answerWith(200, plainAnswer(8, 3)), hi, "}}", 100},
		"plain, large": {answerWith(200, long), hi, "}}", 3},
	} {
		h := newHouse(t, alice(t, "1 at once", "100 requests in total"), c.upstream)
		var left sync.WaitGroup
		for i := range c.calls {
			r, err := http.NewRequest(http.MethodPost, h.url+"/v1/chat/completions", strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+secret)
			resp, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != 200 {
				t.Fatalf("%s: call %d: %d", name, i+1, resp.StatusCode)
			}
			piece := make([]byte, 32<<10)
			for last := ""; !strings.Contains(last, c.end); {
				n, err := resp.Body.Read(piece)
				if last = last[max(0, len(last)-20):] + string(piece[:n]); n == 0 {
					t.Fatalf("%s: call %d: %v", name, i+1, err)
				}
			}
			left.Go(func() {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			})
		}
		left.Wait()
	}
}

func TestCallsAtOnceNextToOtherLimits(t *testing.T) {
	release := make(chan struct{})
	h := newHouse(t, alice(t, "1 at once", "60 tokens per minute", "9 requests in any minute"), blockUntil(release, 8, 50))
	running := h.run(1, hi)
	got := h.chat(hi)
	message, kind, _, _ := got.errorOf(t)
	if ms, _ := strconv.Atoi(got.header.Get("retry-after-ms")); kind != "tokens" || ms < 40_000 || ms > 58_000 {
		t.Errorf("type %q, retry-after-ms %q, want the bucket's exact wait", kind, got.header.Get("retry-after-ms"))
	}
	if !strings.Contains(message, `budget "60 tokens per minute"`) || !strings.Contains(message, ` Besides, under "1 at once" 1 call is running, and must end first.`) {
		t.Error(message)
	}
	if got.header.Get("x-ratelimit-limit-requests") != "9" || got.header.Get("x-ratelimit-remaining-requests") != "8" {
		t.Errorf("headers %v", got.header)
	}
	release <- struct{}{}
	h.ends(running, 1)
}

// crowd is a limiter whose calls at once take long.
type crowd struct{ *limiter.Memory }

func (crowd) Reserve(context.Context, []limiter.Charge) (*limiter.Reservation, limiter.Decision, error) {
	return nil, limiter.Decision{Refused: 0, AtOnce: true, HeldOnly: true, RetryAfter: 12345 * time.Millisecond}, nil
}

func (crowd) Peek(_ context.Context, charges []limiter.Charge) (limiter.Decision, error) {
	for i := range charges {
		charges[i].State = limiter.State{Limit: 8, Held: 11, Open: 11}
	}
	return limiter.Decision{Refused: 0, AtOnce: true, HeldOnly: true, RetryAfter: 12345 * time.Millisecond}, nil
}

func TestAGuessIsInWholeSecondsAndNeverForbidsARetry(t *testing.T) {
	h := newHouse(t, alice(t, "8 at once"), answerWith(200, plainAnswer(8, 3)), func(o *proxy.Options) {
		o.Limiter = crowd{o.Limiter.(*limiter.Memory)}
	})
	got := h.chat(hi, "X-Stainless-Lang", "go")
	if got.header.Get("retry-after-ms") != "13000" || got.header.Get("x-should-retry") != "" ||
		!strings.Contains(got.body, "Limit 8, 11 calls are running, and 4 of them must end first. Please try again in 13s (a guess).") {
		t.Errorf("%v %s", got.header, got.body)
	}
}

func TestCallsAtOnceOfGroupsUpstreamsAndModels(t *testing.T) {
	release := make(chan struct{})
	for owner, spec := range map[string]proxy.Spec{
		"group team":  {Groups: []proxy.GroupSpec{{Name: "team", Keys: []string{"*"}, Limits: limits(t, "1 at once")}}},
		"upstream up": {Upstreams: []proxy.UpstreamSpec{{Name: "up", Limits: limits(t, "1 at once")}}},
	} {
		spec.Keys = []proxy.KeySpec{{Name: "alice"}}
		h := newHouse(t, spec, blockUntil(release, 8, 3))
		running := h.run(1, hi)
		says := owner + `, budget \"1 at once\"`
		if len(spec.Upstreams) > 0 { // whose figures callers are not told
			says = "(" + owner + ") is short"
		}
		if got := h.chat(hi); got.status != 429 || !strings.Contains(got.body, says) {
			t.Errorf("%s: %d %s", owner, got.status, got.body)
		}
		release <- struct{}{}
		h.ends(running, 1)
	}
	h := newHouse(t, alice(t, "1 at once on gpt-4o*"), blockUntil(release, 8, 3))
	running := h.run(1, hi)
	others := h.run(3, strings.Replace(hi, "gpt-4o-mini", "gpt-5-mini", 1))
	if got := h.chat(hi); got.status != 429 {
		t.Errorf("the model that is limited: %d", got.status)
	}
	for range 4 {
		release <- struct{}{}
	}
	h.ends(running, 1)
	h.ends(others, 3)
}

func TestAChangedLimitCountsTheCallsThatRun(t *testing.T) {
	release := make(chan struct{})
	up := blockUntil(release, 8, 3)
	h := newHouse(t, alice(t, "3 at once"), up)
	reload := func(sentences ...string) {
		t.Helper()
		spec := alice(t, sentences...)
		spec.Keys[0].Hashes = h.spec.Keys[0].Hashes
		catalogPolicy(t, h, h.spec.Upstreams[0].URL, spec)
	}
	running := h.run(3, hi)
	reload("2 at once")
	if got := h.chat(hi); got.status != 429 || !strings.Contains(got.body, "Limit 2, 3 calls are running, and 2 of them must end first") {
		t.Errorf("lowered: %d %s", got.status, got.body)
	}
	reload("2 at once, observe only")
	watched := h.run(1, hi)
	reload("4 at once")
	if got := h.chat(hi); got.status != 429 {
		t.Errorf("four run, one of them since it was only observed: %d", got.status)
	}
	reload("5 at once")
	fifth := h.run(1, hi)
	reload() // no limit
	sixth := h.run(1, hi)
	for range 6 {
		release <- struct{}{}
	}
	h.ends(running, 3)
	h.ends(watched, 1)
	h.ends(fifth, 1)
	h.ends(sixth, 1)
}

func TestObservedCallsAtOnce(t *testing.T) {
	release := make(chan struct{})
	h := newHouse(t, alice(t, "2 at once, observe only", "100 requests in total, observe only"), blockUntil(release, 8, 3))
	running := h.run(3, hi)
	value := func(name, result string) float64 {
		return h.metric(name, "budget", "2 at once, observe only", "result", result)
	}
	if ok, no := value("rate_limit_acquire_total", "watched_allowed"), value("rate_limit_acquire_total", "watched_refused"); ok != 2 || no != 1 {
		t.Errorf("%v would have passed and %v not, want 2 and 1", ok, no)
	}
	if left := h.metric("rate_limit_tokens", "budget", "2 at once, observe only"); left != 0 {
		t.Errorf("%v places are left while three run", left)
	}
	for range 3 {
		release <- struct{}{}
	}
	h.ends(running, 3)
	if left := h.metric("rate_limit_tokens", "budget", "2 at once, observe only"); left != 2 {
		t.Errorf("%v places are left when all have ended", left)
	}
	if s := h.state("key alice", "100 requests in total"); s.Used != 3 {
		t.Errorf("%d requests were counted, want 3", s.Used)
	}
}

func TestOpenCalls(t *testing.T) {
	release := make(chan struct{})
	h := newHouse(t, alice(t, "3 at once", "1000 tokens in total", "1 at once on gpt*, observe only"), blockUntil(release, 8, 3))
	running := h.run(2, hi)
	open := h.server.OpenCalls()
	if len(open) != 2 || open[0].ID == open[1].ID {
		t.Fatalf("open: %+v", open)
	}
	for _, c := range open {
		held := map[string]int64{}
		for _, hold := range c.Holds {
			held[hold.Budget] += hold.Amount
		}
		want := map[string]int64{"key alice: requests at once": 1, "key alice: tokens in total": 58, "key alice: requests at once on gpt*": 1}
		if c.Key != "alice" || !strings.HasPrefix(c.ID, "req_") || c.Age <= 0 || c.Age > time.Minute || fmt.Sprint(held) != fmt.Sprint(want) {
			t.Errorf("%+v", c)
		}
	}
	if strings.Contains(fmt.Sprint(open), "secret") {
		t.Errorf("a secret is listed: %v", open)
	}
	release <- struct{}{}
	release <- struct{}{}
	h.ends(running, 2)
	if open := h.server.OpenCalls(); len(open) != 0 {
		t.Errorf("still open: %+v", open)
	}
}
