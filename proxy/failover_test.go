package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
)

// twins are two upstreams, one and two, of which the first is asked first, behind one model that the second knows by another name.
type twins struct {
	*house
	mu    sync.Mutex
	asked map[string]int // how often each was; guarded by mu
}

// newTwins makes them for alice. Each answers as it is told; nil: it refuses connections.
func newTwins(t *testing.T, spec proxy.Spec, one, two http.HandlerFunc) *twins {
	t.Helper()
	tw := &twins{asked: map[string]int{}}
	refuses := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	spec.Upstreams = []proxy.UpstreamSpec{{Name: "one", Key: "sk-key-one"}, {Name: "two", Key: "sk-key-two"}}
	if one == nil {
		spec.Upstreams[0].Dial = refuses
	}
	if two == nil {
		spec.Upstreams[1].Dial = refuses
	}
	spec.Models = []proxy.ModelSpec{{Pattern: "*", Pool: []proxy.PoolSpec{{Upstream: "one"}, {Upstream: "two", As: "gpt-4.1-mini", Priority: 2}}}}
	tw.house = newHouse(t, spec, func(w http.ResponseWriter, r *http.Request) {
		name, answer := "one", one
		if r.Header.Get("Authorization") == "Bearer sk-key-two" {
			name, answer = "two", two
		}
		tw.mu.Lock()
		tw.asked[name]++
		tw.mu.Unlock()
		answer(w, r)
	})
	return tw
}

func (tw *twins) want(one, two int) {
	tw.t.Helper()
	tw.mu.Lock()
	defer tw.mu.Unlock()
	if tw.asked["one"] != one || tw.asked["two"] != two {
		tw.t.Errorf("the upstreams were asked %v times, want one %d and two %d", tw.asked, one, two)
	}
}

func errorBody(message string) string {
	return `{"error":{"message":"` + message + `","type":"t","param":null,"code":"c"}}`
}

// TestAnotherUpstreamIsAskedWhereOneTookNothing: the caller notices nothing, pays once, and the other gets the body as it wants it.
func TestAnotherUpstreamIsAskedWhereOneTookNothing(t *testing.T) {
	for name, one := range map[string]http.HandlerFunc{
		"it refuses connections": nil,
		"401":                    answerWith(401, errorBody("bad key")),
		"402":                    answerWith(402, errorBody("Insufficient credits. Add more at https://provider/credits")),
		"429":                    answerWith(429, errorBody("slow down")),
		"503":                    answerWith(503, errorBody("overloaded")),
		"529":                    answerWith(529, errorBody("overloaded")),
	} {
		t.Run(name, func(t *testing.T) {
			tw := newTwins(t, alice(t, "1000 tokens in total", "3 requests in total"), one, answerWith(200, plainAnswer(8, 3)))
			got := tw.chat(strings.Replace(hi, `"max_tokens":50`, `"max_tokens":50,"stream":false`, 1))
			if got.status != 200 || got.body != plainAnswer(8, 3) {
				t.Fatalf("%d %s", got.status, got.body)
			}
			if one == nil {
				tw.want(0, 1)
			} else {
				tw.want(1, 1)
			}
			if tokens, requests := tw.used("1000 tokens in total"), tw.used("3 requests in total"); tokens != 11 || requests != 1 {
				t.Errorf("%d tokens and %d requests are used, want 11 and 1", tokens, requests)
			}
			var last *http.Request
			for len(tw.house.asked) > 0 {
				last = <-tw.house.asked
			}
			var sent map[string]any
			if err := json.NewDecoder(last.Body).Decode(&sent); err != nil || sent["model"] != "gpt-4.1-mini" || sent["max_tokens"] != 50.0 {
				t.Errorf("the second upstream was sent %v (%v)", sent, err)
			}
			if n := tw.metric("tokenfare_failovers_total", "from", "one", "to", "two"); n != 1 {
				t.Errorf("%v failovers are counted", n)
			}
		})
	}
}

// TestNoOtherUpstreamIsAskedWhereOneMayHaveActed: nor where the call itself is at fault.
func TestNoOtherUpstreamIsAskedWhereOneMayHaveActed(t *testing.T) {
	hangUp := func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }
	cutShort := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	for name, c := range map[string]struct {
		one  http.HandlerFunc
		want int // status
	}{
		"403":                   {answerWith(403, errorBody("flagged")), 502},
		"400":                   {answerWith(400, errorBody("what?")), 400},
		"404":                   {answerWith(404, errorBody("no such model")), 404},
		"500":                   {answerWith(500, errorBody("oops")), 500},
		"502":                   {answerWith(502, errorBody("oops")), 502},
		"504":                   {answerWith(504, errorBody("oops")), 504},
		"it hangs up":           {hangUp, 502},
		"its stream breaks off": {cutShort, 200},
	} {
		t.Run(name, func(t *testing.T) {
			tw := newTwins(t, alice(t, "1000 tokens in total"), c.one, answerWith(200, plainAnswer(8, 3)))
			if got := tw.chat(strings.Replace(hi, `{`, `{"stream":true,`, 1)); got.status != c.want || c.want == 200 && got.err == nil {
				t.Errorf("%d %s %v", got.status, got.body, got.err)
			}
			tw.want(1, 0)
		})
	}
}

// TestAProviderThatIsShort: where no other has room either, its own 429 passes on: when to come back, that it is not the fault of the
// caller's key, and nothing that names the account.
func TestAProviderThatIsShort(t *testing.T) {
	limited := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "17")
		answerWith(429, errorBody("Rate limit reached for gpt-4o in organization org-Ab3dEf6hIj9 in project proj_12345678 on tokens"))(w, r)
	}
	tw := newTwins(t, alice(t, "1000 tokens in total", "1 at once"), limited, limited)
	got := tw.chat(hi)
	message, _, _, code := got.errorOf(t)
	if got.status != 429 || got.header.Get("Retry-After") != "17" || code != "c" {
		t.Errorf("%d, Retry-After %q, code %q", got.status, got.header.Get("Retry-After"), code)
	}
	if !strings.HasPrefix(message, "The provider's account behind this proxy (upstream one) is short, not the budget of your key.") ||
		!strings.Contains(message, "Rate limit reached for gpt-4o in organization org-… in project proj_… on tokens") {
		t.Errorf("it says %q", message)
	}
	tw.want(1, 1)
	if used := tw.used("1000 tokens in total"); used != 0 {
		t.Errorf("%d tokens are charged", used)
	}
}

// TestAnAccountThatHasNoCredit: where no other takes the call, the 402 passes on, says that it is not the fault of the caller's key, and is
// counted for whoever pays the provider. It may be about this call alone, which is too large for the credit: the others stay where they are.
func TestAnAccountThatHasNoCredit(t *testing.T) {
	tw := newTwins(t, alice(t, "1000 tokens in total"), func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(read(t, r), "Hi") {
			answerWith(402, errorBody("Insufficient credits in org-Ab3dEf6hIj9"))(w, r)
			return
		}
		answerWith(200, plainAnswer(8, 3))(w, r)
	}, nil)
	for range 3 {
		got := tw.chat(hi)
		if message, _, _, code := got.errorOf(t); got.status != 502 || code != "upstream_unreachable" { // it is worth a retry
			t.Errorf("where the other is not there: %d %q %q", got.status, code, message)
		}
	}
	if got := tw.chat(strings.Replace(hi, "Hi", "Ho", 1)); got.status != 200 {
		t.Errorf("a call that the credit is enough for: %d %s", got.status, got.body)
	}
	tw.want(4, 0)
	if n := tw.metric("tokenfare_upstream_rejections_total", "upstream", "one"); n != 3 {
		t.Errorf("%v are counted, want 3", n)
	}
	h := newHouse(t, alice(t, "1000 tokens in total"), answerWith(402, errorBody("Insufficient credits in org-Ab3dEf6hIj9")))
	got := h.chat(hi)
	message, _, _, code := got.errorOf(t)
	if want := "The provider's account behind this proxy (upstream up) is short, not the budget of your key. The provider says: Insufficient credits in org-…"; got.status != 402 || message != want || code != "c" {
		t.Errorf("%d %q, code %q", got.status, message, code)
	}
	if used := h.used("1000 tokens in total"); used != 0 {
		t.Errorf("%d tokens are charged", used)
	}
}

// TestUpstreamsThatAreNotThere: no address is told.
func TestUpstreamsThatAreNotThere(t *testing.T) {
	tw := newTwins(t, alice(t, "1000 tokens in total"), nil, nil)
	got := tw.chat(hi)
	if message, _, _, code := got.errorOf(t); got.status != 502 || code != "upstream_unreachable" || strings.Contains(message, "127.0.0.1") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if used := tw.used("1000 tokens in total"); used != 0 {
		t.Errorf("%d tokens are charged", used)
	}
}

// TestAnUpstreamsOwnLimits: who has no room left for a call is not asked, and where nobody has, the refusal tells when the first will.
func TestAnUpstreamsOwnLimits(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		spec := alice(t, "1m tokens in total")
		spec.Upstreams = []proxy.UpstreamSpec{
			{Name: "one", Key: "sk-key-one", Limits: limits(t, "60 tokens per 10 minutes")},
			{Name: "two", Key: "sk-key-two", Limits: limits(t, "60 tokens per minute", "1m tokens in total")},
		}
		spec.Models = []proxy.ModelSpec{{Pattern: "*", Pool: []proxy.PoolSpec{{Upstream: "one"}, {Upstream: "two", Priority: 2}}}}
		v := newVirtual(t, spec, answerWith(200, plainAnswer(8, 50)))
		for _, want := range []string{"Bearer sk-key-one", "Bearer sk-key-two"} {
			if got := v.chat(hi); got.status != 200 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			if asked := v.sent(); asked[len(asked)-1].Header.Get("Authorization") != want {
				t.Errorf("%s was asked, want %s", asked[len(asked)-1].Header.Get("Authorization"), want)
			}
		}
		got := v.chat(hi)
		message, _, _, _ := got.errorOf(t)
		if got.status != 429 || got.header.Get("Retry-After") != "56" || !strings.Contains(message, "upstream two") {
			t.Fatalf("%d, Retry-After %q: %s", got.status, got.header.Get("Retry-After"), message)
		}
		time.Sleep(56 * time.Second)
		if got := v.chat(hi); got.status != 200 {
			t.Errorf("it was told to come back now: %d %s", got.status, got.body)
		}
		if s := v.states()["upstream two: tokens in total"]; s.Used != 116 || s.Held != 0 {
			t.Errorf("two has given %+v, want 116", s)
		}
	})
}

// TestTheCallersOwnBudgetDecides: no other upstream is asked for a call that its caller cannot pay.
func TestTheCallersOwnBudgetDecides(t *testing.T) {
	tw := newTwins(t, alice(t, "60 tokens in total"), answerWith(200, plainAnswer(8, 50)), answerWith(200, plainAnswer(8, 50)))
	tw.chat(hi)
	if got := tw.chat(hi); got.status != 429 {
		t.Errorf("%d %s", got.status, got.body)
	}
	tw.want(1, 0)
}

// TestACallerStaysWithOneUpstream, whose cache knows the beginning of its prompts; what it asks under other names may go elsewhere.
func TestACallerStaysWithOneUpstream(t *testing.T) {
	spec := alice(t, "1m tokens in total")
	var members []proxy.PoolSpec
	for i := range 4 {
		name := fmt.Sprint("up", i)
		spec.Upstreams = append(spec.Upstreams, proxy.UpstreamSpec{Name: name, Key: "sk-" + name})
		members = append(members, proxy.PoolSpec{Upstream: name})
	}
	spec.Models = []proxy.ModelSpec{{Pattern: "*", Pool: members}}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
	where := func(body string) string {
		h.chat(body)
		return (<-h.asked).Header.Get("Authorization")
	}
	home := where(hi)
	for range 10 {
		if got := where(hi); got != home {
			t.Fatalf("from %s to %s", home, got)
		}
	}
	seen := map[string]bool{}
	for i := range 40 {
		body := strings.Replace(hi, "{", fmt.Sprintf(`{"prompt_cache_key":"session-%d",`, i), 1)
		first := where(body)
		if again := where(body); again != first {
			t.Fatalf("one session goes to %s and to %s", first, again)
		}
		seen[first] = true
	}
	if len(seen) != 4 {
		t.Errorf("40 sessions of a caller go to %d of 4 upstreams", len(seen))
	}
}

// TestAnUpstreamThatFailsIsAskedLast: for as long as it rests; the log says so once.
func TestAnUpstreamThatFailsIsAskedLast(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var broken atomic.Bool
		broken.Store(true)
		spec := alice(t, "1m tokens in total")
		spec.Upstreams = []proxy.UpstreamSpec{{Name: "one", Key: "sk-key-one"}, {Name: "two", Key: "sk-key-two"}}
		spec.Models = []proxy.ModelSpec{{Pattern: "*", Pool: []proxy.PoolSpec{{Upstream: "one"}, {Upstream: "two", Priority: 2}}}}
		v := newVirtual(t, spec, func(w http.ResponseWriter, r *http.Request) {
			if broken.Load() && r.Header.Get("Authorization") == "Bearer sk-key-one" {
				answerWith(503, errorBody("down"))(w, r)
				return
			}
			answerWith(200, plainAnswer(8, 3))(w, r)
		})
		ones := func(n int) (asked int) {
			before := len(v.sent())
			for range n {
				if got := v.chat(hi); got.status != 200 {
					t.Fatalf("%d %s", got.status, got.body)
				}
			}
			for _, r := range v.sent()[before:] {
				if r.Header.Get("Authorization") == "Bearer sk-key-one" {
					asked++
				}
			}
			return asked
		}
		if n := ones(10); n != 3 {
			t.Errorf("it was asked %d times before it was left alone, want 3", n)
		}
		time.Sleep(5 * time.Second)
		if n := ones(10); n != 1 {
			t.Errorf("%d calls found out that it is still unwell, want 1", n)
		}
		broken.Store(false)
		if n := ones(10); n != 0 {
			t.Errorf("%d calls went there while it rests", n)
		}
		time.Sleep(10 * time.Second)
		if n := ones(10); n != 10 {
			t.Errorf("%d of 10 calls went there after it was well again", n)
		}
		if lines := v.log.lines("upstream fails"); len(lines) != 2 {
			t.Errorf("the log has %d lines about it, want one for each rest", len(lines))
		}
	})
}

// TestAClientThatLeftIsServedNowhere: the first upstream's failure is not another's work.
func TestAClientThatLeftIsServedNowhere(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		spec := alice(t, "1m tokens in total")
		spec.Upstreams = []proxy.UpstreamSpec{{Name: "one", Key: "sk-key-one"}, {Name: "two", Key: "sk-key-two"}}
		spec.Models = []proxy.ModelSpec{{Pattern: "*", Pool: []proxy.PoolSpec{{Upstream: "one"}, {Upstream: "two", Priority: 2}}}}
		v := newVirtual(t, spec, after(time.Second, answerWith(503, errorBody("down"))))
		ctx, leave := context.WithTimeout(t.Context(), time.Second/2)
		defer leave()
		if got := v.chatUntil(ctx, hi); !errors.Is(got.err, context.DeadlineExceeded) {
			t.Errorf("%d %v", got.status, got.err)
		}
		time.Sleep(time.Minute)
		if n := len(v.sent()); n != 1 {
			t.Errorf("the upstreams were asked %d times", n)
		}
	})
}
