package httplimit_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/httplimit"
)

// desk is a server behind the middleware, with verbs that fail the test.
type desk struct {
	*testing.T
	handler http.Handler
	seen    []httplimit.Outcome
}

// story tells a test in a bubble, where time.Sleep moves the clock.
func story(t *testing.T, name string, o httplimit.Options, tell func(d *desk)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { tell(newDesk(t, o)) })
	})
}

func newDesk(t *testing.T, o httplimit.Options) *desk {
	d := &desk{T: t}
	if o.Observe == nil {
		o.Observe = func(_ *http.Request, seen httplimit.Outcome) { d.seen = append(d.seen, seen) }
	}
	d.handler = httplimit.New(o)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	return d
}

// from makes a request of the client at an address, with headers in pairs of name and value.
func from(address string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	r.RemoteAddr = address
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func withKey(key string) *http.Request { return from("192.0.2.1:1234", "X-API-Key", key) }

// answer is what came back.
type answer struct {
	*desk
	*httptest.ResponseRecorder
}

func (d *desk) ask(r *http.Request) answer {
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	return answer{d, w}
}

func (d *desk) passes(r *http.Request) answer {
	d.Helper()
	got := d.ask(r)
	if got.Code != http.StatusNoContent {
		d.Fatalf("answered %d: %s", got.Code, got.Body)
	}
	return got
}

func (d *desk) refused(r *http.Request, status int, code string) answer {
	d.Helper()
	got := d.ask(r)
	if got.Code != status || got.problem().Code != code {
		d.Fatalf("answered %d, want %d with code %q: %s", got.Code, status, code, got.Body)
	}
	return got
}

// limited wants a 429 that is worth waiting out.
func (d *desk) limited(r *http.Request) answer {
	d.Helper()
	got := d.refused(r, http.StatusTooManyRequests, "rate_limit_exceeded")
	got.wait()
	return got
}

// problem is the error in the answer, which must have the shape that OpenAI's clients parse.
func (a answer) problem() (p struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    string  `json:"code"`
},
) {
	a.Helper()
	var all map[string]map[string]any
	if err := json.Unmarshal(a.Body.Bytes(), &all); err != nil || len(all) != 1 || len(all["error"]) != 4 {
		a.Fatalf("%v: %s", err, a.Body)
	}
	whole := struct{ Error any }{&p}
	if err := json.Unmarshal(a.Body.Bytes(), &whole); err != nil || p.Message == "" {
		a.Fatalf("%v: %s", err, a.Body)
	}
	if got := a.Result().Header.Get("Content-Type"); got != "application/json" {
		a.Fatalf("Content-Type %q", got)
	}
	return p
}

// header returns the one value of a header, "" if there is none.
func (a answer) header(name string) string {
	a.Helper()
	values := a.Result().Header.Values(name)
	if len(values) > 1 {
		a.Fatalf("%s: %q", name, values)
	}
	return strings.Join(values, "")
}

// wait is what the client is told to wait. The two headers must agree.
func (a answer) wait() time.Duration {
	a.Helper()
	ms, err := strconv.ParseInt(a.header("retry-after-ms"), 10, 64)
	if err != nil {
		a.Fatal(err)
	}
	s, err := strconv.ParseInt(a.header("Retry-After"), 10, 64)
	if err != nil {
		a.Fatal(err)
	}
	if ms < 1 || s != (ms+999)/1000 {
		a.Fatalf("Retry-After %d, retry-after-ms %d", s, ms)
	}
	return time.Duration(ms) * time.Millisecond
}

func (a answer) says(name, want string) answer {
	a.Helper()
	if got := a.header(name); got != want {
		a.Fatalf("%s: %q, want %q", name, got, want)
	}
	return a
}

// leaves wants the three headers about the limit.
func (a answer) leaves(limit, remaining, reset string) answer {
	a.Helper()
	return a.says("X-RateLimit-Limit", limit).says("X-RateLimit-Remaining", remaining).says("X-RateLimit-Reset", reset)
}

func (a answer) mentions(words ...string) answer {
	a.Helper()
	for _, w := range words {
		if text := a.problem().Message; !strings.Contains(text, w) {
			a.Fatalf("%q does not say %q", text, w)
		}
	}
	return a
}

func bucket(size, refill int64, every time.Duration) limiter.TokenBucket {
	return limiter.TokenBucket{Size: size, Refill: refill, Every: every}
}
