package httplimit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/httplimit"
)

func TestLimit(t *testing.T) {
	perSecond := httplimit.Options{Rule: bucket(10, 1, time.Second)}
	story(t, "T10: the eleventh of eleven is a 429", perSecond, func(d *desk) {
		for left := 9; left >= 0; left-- {
			d.passes(withKey("a")).leaves("10", fmt.Sprint(left), fmt.Sprint(10-left))
		}
		d.limited(withKey("a")).leaves("10", "0", "10").says("Retry-After", "1").says("retry-after-ms", "1000").says("x-should-retry", "").
			mentions("this API key", "Limit 10, Used 10, Requested 1", "try again in 1s")
		time.Sleep(time.Second)
		d.passes(withKey("a"))
		d.limited(withKey("a"))
	})
	story(t, "T7: clients do not feel each other", perSecond, func(d *desk) {
		for range 10 {
			d.passes(withKey("a"))
			d.passes(withKey("b"))
			d.passes(from("192.0.2.1:5"))
			d.passes(from("192.0.2.2:5"))
		}
		d.limited(withKey("a"))
		d.limited(withKey("b"))
		d.limited(from("192.0.2.1:6")).mentions("your address")
		d.limited(from("192.0.2.2:7"))
	})
	story(t, "H1: waits are rounded up, agree, and are honest", httplimit.Options{Rule: bucket(2, 3, 10*time.Second)}, func(d *desk) {
		d.passes(withKey("a"))
		time.Sleep(1234567 * time.Nanosecond)
		d.passes(withKey("a"))
		d.limited(withKey("a")).says("Retry-After", "4").says("retry-after-ms", "3333") // 3,332,098,766.6… ns
		d.waitsOut(withKey("a"))
	})
	story(t, "H1: half a second is not rounded down to none", httplimit.Options{Rule: bucket(1, 2, time.Second)}, func(d *desk) {
		d.passes(withKey("a")).leaves("1", "0", "1")
		d.limited(withKey("a")).says("Retry-After", "1").says("retry-after-ms", "500")
		time.Sleep(500*time.Millisecond - 1)
		d.limited(withKey("a")).says("Retry-After", "1").says("retry-after-ms", "1") // a nanosecond
		d.waitsOut(withKey("a"))
	})
	story(t, "H1: long waits are not worth a retry", httplimit.Options{Rule: bucket(1, 1, time.Minute)}, func(d *desk) {
		d.passes(withKey("a"))
		d.limited(withKey("a")).says("Retry-After", "60").says("x-should-retry", "")
		d.limited(from("192.0.2.1:1", "X-API-Key", "a", "X-Stainless-Lang", "go")).says("Retry-After", "60").says("x-should-retry", "false")
		slow := newDesk(d.T, httplimit.Options{Rule: bucket(1, 1, time.Minute+1)})
		slow.passes(withKey("a"))
		slow.limited(withKey("a")).says("Retry-After", "61").says("x-should-retry", "false").mentions("try again in 1m0.001s")
	})
	story(t, "H2: what can never pass is not worth a retry", httplimit.Options{Rule: bucket(10, 1, time.Second), Cost: costHeader}, func(d *desk) {
		d.refused(costing("a", 11), http.StatusBadRequest, "request_exceeds_budget").
			says("x-should-retry", "false").says("Retry-After", "").says("retry-after-ms", "").leaves("10", "10", "0").
			mentions("Limit 10, Used 0, Requested 11", "can never pass")
		d.refused(costing("a", 1<<62), http.StatusBadRequest, "request_exceeds_budget")
		d.passes(costing("a", 10)).leaves("10", "0", "10")
		d.refused(costing("a", 11), http.StatusBadRequest, "request_exceeds_budget").says("Retry-After", "")
	})
	story(t, "T20: a cost of several is taken whole or not at all", httplimit.Options{Rule: bucket(10, 1, time.Second), Cost: costHeader}, func(d *desk) {
		d.passes(costing("a", 7)).leaves("10", "3", "7")
		d.limited(costing("a", 5)).leaves("10", "3", "7").says("Retry-After", "2")
		d.passes(costing("a", 3)).leaves("10", "0", "10")
		d.passes(costing("a", 0)).leaves("10", "0", "10")
	})
	story(t, "a window", httplimit.Options{Rule: limiter.SlidingWindow{Limit: 2, Window: time.Second}}, func(d *desk) {
		d.passes(withKey("a")).leaves("2", "1", "1")
		time.Sleep(400 * time.Millisecond)
		d.passes(withKey("a")).leaves("2", "0", "1")
		d.limited(withKey("a")).says("retry-after-ms", "600")
		d.waitsOut(withKey("a"))
	})
	story(t, "a total", httplimit.Options{Rule: limiter.Total{Limit: 1}}, func(d *desk) {
		d.passes(withKey("a")).leaves("1", "0", "")
		d.refused(withKey("a"), http.StatusTooManyRequests, "insufficient_quota").leaves("1", "0", "").
			says("Retry-After", "").says("x-should-retry", "false").mentions("waiting does not help")
	})
	story(t, "a day", httplimit.Options{Rule: limiter.CalendarQuota{Limit: 1, Period: limiter.Day}}, func(d *desk) {
		time.Sleep(23*time.Hour + 30*time.Minute)
		d.passes(withKey("a")).leaves("1", "0", "1800")
		d.refused(withKey("a"), http.StatusTooManyRequests, "insufficient_quota").
			says("Retry-After", "1800").says("x-should-retry", "false").mentions("until Sunday 2 January 2000 00:00 UTC")
		time.Sleep(30 * time.Minute)
		d.passes(withKey("a"))
	})
}

// A budget that others hold reservations on: held is not used up, whatever the kind of the budget.
func TestHeldByOthers(t *testing.T) {
	for name, rule := range map[string]limiter.Rule{"total": limiter.Total{Limit: 2}, "month": limiter.CalendarQuota{Limit: 2, Period: limiter.Month}} {
		memory := limiter.NewMemory()
		o := httplimit.Options{Budget: func(client string) *limiter.Budget { return memory.Budget(client, rule) }}
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, o)
			d.passes(from("@"))
			held, _, err := memory.Reserve(t.Context(), []limiter.Charge{{Budget: memory.Budget("unknown", rule), N: 1}})
			if err != nil {
				t.Fatal(err)
			}
			d.limited(from("@")).says("Retry-After", "1").says("x-should-retry", "").mentions("Held 1", "a guess")
			if err := held.Cancel(t.Context()); err != nil {
				t.Fatal(err)
			}
			d.passes(from("@"))
			d.refused(from("@"), http.StatusTooManyRequests, "insufficient_quota")
		})
	}
}

// A refusal does not wait for a body that its sender holds back.
func TestBodyHeldBack(t *testing.T) {
	server := httptest.NewServer(httplimit.New(httplimit.Options{Rule: limiter.Total{Limit: 1}, Cost: func(*http.Request) int64 { return 2 }})(http.NotFoundHandler()))
	defer server.Close()
	body, never := io.Pipe()
	defer never.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusBadRequest || !response.Close {
		t.Fatalf("%d, closed %v", response.StatusCode, response.Close)
	}
}

// waitsOut wants a refusal whose wait is exactly long enough, to the millisecond.
func (d *desk) waitsOut(r *http.Request) {
	d.Helper()
	wait := d.limited(r).wait()
	time.Sleep(wait - time.Millisecond)
	d.limited(r)
	time.Sleep(time.Millisecond)
	d.passes(r)
}

// costHeader takes the cost of a test's requests from a header.
func costHeader(r *http.Request) (n int64) {
	fmt.Sscan(r.Header.Get("Cost"), &n)
	return n
}

func costing(key string, n int64) *http.Request {
	return from("192.0.2.1:1234", "X-API-Key", key, "Cost", fmt.Sprint(n))
}

func TestRequestsInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		finish := make(chan func())
		d := &desk{T: t}
		d.handler = httplimit.New(httplimit.Options{Rule: limiter.AtOnce{Limit: 2}})(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			(<-finish)()
		}))
		ask := func() {
			go func() {
				defer func() { recover() }() // as net/http does
				d.ask(withKey("a"))
			}()
			synctest.Wait()
		}
		full := func() {
			t.Helper()
			d.refused(withKey("a"), http.StatusTooManyRequests, "rate_limit_exceeded").says("Retry-After", "1").leaves("2", "0", "").
				mentions("in progress", "Held 2", "a guess")
		}
		ask()
		ask()
		full()
		finish <- func() {}
		synctest.Wait()
		ask()
		full()
		finish <- func() { panic("handler") } // E6: however a request ends, it ends
		synctest.Wait()
		ask()
		full()
		finish <- func() {}
		finish <- func() {}
	})
}

func TestOddCosts(t *testing.T) {
	secret := "sk-secret"
	costs := map[string]func(*http.Request) int64{
		"negative":      func(*http.Request) int64 { return -1 },
		"most negative": func(*http.Request) int64 { return -1 << 63 },
		"panic":         func(r *http.Request) int64 { panic("cannot price " + r.Header.Get("X-API-Key")) },
		"error":         func(r *http.Request) int64 { panic(errors.New(r.Header.Get("X-API-Key"))) },
		"index":         func(r *http.Request) int64 { return int64(r.Header["None"][3][0]) },
		"division":      func(r *http.Request) int64 { return 1 / int64(len(r.Header["None"])) },
	}
	for name, cost := range costs {
		var odd atomic.Bool
		o := httplimit.Options{Rule: bucket(10, 1, time.Second), Cost: func(r *http.Request) int64 {
			if odd.Load() {
				return cost(r)
			}
			return 1
		}}
		story(t, name, o, func(d *desk) {
			d.passes(withKey(secret))
			odd.Store(true)
			for range 20 {
				got := d.refused(withKey(secret), http.StatusInternalServerError, "internal_error").says("Retry-After", "")
				last := d.seen[len(d.seen)-1]
				if last.Err == nil || last.Status != http.StatusInternalServerError || strings.Contains(fmt.Sprint(last, got.Body), secret) {
					d.Fatalf("%+v, %s", last, got.Body)
				}
			}
			odd.Store(false)
			d.passes(withKey(secret)).leaves("10", "8", "2") // nothing was charged, nothing was given
		})
	}
	t.Run("abort", func(t *testing.T) {
		defer func() {
			if got := recover(); got != http.ErrAbortHandler { //nolint:errorlint // it is passed on as it is
				t.Fatal(got)
			}
		}()
		newDesk(t, httplimit.Options{Rule: bucket(1, 1, 1), Cost: func(*http.Request) int64 { panic(http.ErrAbortHandler) }}).ask(withKey("a"))
	})
}

// broken is a limiter whose store cannot be reached.
type broken struct{ *limiter.Memory }

var errStore = errors.New("store is down")

func (broken) Reserve(context.Context, []limiter.Charge) (*limiter.Reservation, limiter.Decision, error) {
	return nil, limiter.Decision{Refused: -1}, errStore
}

func (broken) TryAcquire(context.Context, []limiter.Charge) (limiter.Decision, error) {
	return limiter.Decision{Refused: -1}, errStore
}

// T22, the half that does not need a store: a limiter that cannot answer.
func TestT22LimiterDown(t *testing.T) {
	for name, rule := range map[string]limiter.Rule{"bucket": bucket(1, 1, time.Second), "in progress": limiter.AtOnce{Limit: 1}} {
		store := broken{limiter.NewMemory()}
		budget := func(client string) *limiter.Budget { return limiter.NewBudget(store, client, rule, nil) }
		story(t, name+", closed", httplimit.Options{Budget: budget}, func(d *desk) {
			d.refused(withKey("a"), http.StatusServiceUnavailable, "limiter_unavailable").leaves("", "", "").says("Retry-After", "")
			if last := d.seen[len(d.seen)-1]; !errors.Is(last.Err, errStore) || last.Status != http.StatusServiceUnavailable {
				d.Fatalf("%+v", last)
			}
		})
		story(t, name+", open", httplimit.Options{Budget: budget, FailOpen: true}, func(d *desk) {
			d.passes(withKey("a")).leaves("", "", "")
			d.passes(withKey("a"))
			if last := d.seen[len(d.seen)-1]; !errors.Is(last.Err, errStore) || last.Status != 0 {
				d.Fatalf("%+v", last)
			}
		})
	}
}

// T6 at the front door: of twenty at once on a limit of five, five pass.
func TestT6TwentyAtOnce(t *testing.T) {
	d := newDesk(t, httplimit.Options{Rule: bucket(5, 1, time.Hour), Observe: func(*http.Request, httplimit.Outcome) {}})
	for round := range 20 {
		var passed, refused atomic.Int64
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				switch d.ask(withKey(fmt.Sprint("client ", round))).Code {
				case http.StatusNoContent:
					passed.Add(1)
				case http.StatusTooManyRequests:
					refused.Add(1)
				}
			})
		}
		all.Wait()
		if passed.Load() != 5 || refused.Load() != 15 {
			t.Fatalf("%d passed, %d refused", passed.Load(), refused.Load())
		}
	}
}

func TestObserve(t *testing.T) {
	story(t, "what it is told", httplimit.Options{Rule: bucket(1, 1, time.Second)}, func(d *desk) {
		d.passes(withKey("a"))
		d.limited(withKey("a"))
		d.passes(from("192.0.2.1:1"))
		d.passes(from("@"))
		for i, want := range []struct {
			client string
			status int
			ok     bool
			used   int64
		}{{"key", 0, true, 1}, {"key", 429, false, 1}, {"address", 0, true, 1}, {"unknown", 0, true, 1}} {
			got := d.seen[i]
			if got.Client.String() != want.client || got.Status != want.status || got.Decision.OK != want.ok || got.State.Used != want.used || got.Cost != 1 || got.Err != nil {
				d.Errorf("request %d: %+v, want %+v", i, got, want)
			}
		}
	})
}

func TestMisuse(t *testing.T) {
	rule := bucket(1, 1, time.Second)
	family := limiter.NewMemory().Family(limiter.FamilyOptions{Rule: rule})
	for want, o := range map[string]httplimit.Options{
		"needs a Rule":          {},
		"both Rule and Budget":  {Rule: rule, Budget: family.Budget},
		"MoreBudgets, but no":   {Rule: rule, MoreBudgets: []func(string) *limiter.Budget{family.Budget}},
		"MoreBudgets[1] is nil": {Budget: family.Budget, MoreBudgets: []func(string) *limiter.Budget{family.Budget, nil}},
		"MoreRules[0] is nil":   {Rule: rule, MoreRules: make([]limiter.Rule, 1)},
		"httplimit: Options.MoreRules[1]: total: Limit is 0": {Rule: rule, MoreRules: []limiter.Rule{rule, limiter.Total{}}},
		"httplimit: Options.Rule: token bucket: Refill is 0": {Rule: limiter.TokenBucket{Size: 1, Every: 1}},
		"TrustedProxies[0]":       {Rule: rule, TrustedProxies: make([]netip.Prefix, 1)},
		"HashKey has 3 bytes":     {Rule: rule, HashKey: []byte("abc")},
		"must be at least 1":      {Rule: limiter.TokenBucket{Size: 1, Every: 1}},
		"not one of the package'": {Rule: &rule},
	} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "BUG: ") || !strings.Contains(got, want) {
					t.Fatal(got)
				}
			}()
			httplimit.New(o)
		})
	}
}

// The one test over real connections and the real clock: who waits as told passes, whatever is in the way.
func TestRealTime(t *testing.T) {
	server := httptest.NewServer(httplimit.New(httplimit.Options{Rule: bucket(3, 1, 50*time.Millisecond)})(http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") },
	)))
	defer server.Close()
	ask := func() answer {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader("a body that nobody reads"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-API-Key", "a")
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		w := httptest.NewRecorder()
		maps.Copy(w.Header(), response.Header)
		w.WriteHeader(response.StatusCode)
		io.Copy(w.Body, response.Body)
		return answer{&desk{T: t}, w}
	}
	for range 8 {
		if got := ask(); got.Code == http.StatusTooManyRequests {
			got.problem()
			time.Sleep(got.wait())
			if got := ask(); got.Code != http.StatusOK || got.Body.String() != "hello" {
				t.Fatalf("%d: %s", got.Code, got.Body)
			}
		}
	}
}
