package httplimit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/httplimit"
)

func window(limit int64, w time.Duration) limiter.SlidingWindow {
	return limiter.SlidingWindow{Limit: limit, Window: w}
}

// M1 at the front door: several limits of a client, all or none.
func TestSeveralRules(t *testing.T) {
	perMinuteAndDay := httplimit.Options{Rule: window(6, time.Minute), MoreRules: []limiter.Rule{window(10, 24*time.Hour)}, Cost: costHeader}
	story(t, "what one refuses is not taken from the other", perMinuteAndDay, func(d *desk) {
		d.passes(costing("a", 4)).leaves("6", "2", "60")
		for range 20 {
			d.limited(costing("a", 3)).leaves("6", "2", "60").says("Retry-After", "60")
		}
		d.passes(costing("b", 6)) // another client
		time.Sleep(time.Minute)
		d.passes(costing("a", 5)).leaves("10", "1", "86400") // 4 + 5 of ten: refusals took nothing
		for range 20 {
			d.limitedLong(costing("a", 2)).leaves("10", "1", "86400").says("Retry-After", fmt.Sprint(24*60*60-60))
		}
		d.passes(costing("a", 1)).leaves("10", "0", "86400") // nor from the minute
	})
	story(t, "Retry-After is of the one that waits longest, and enough", perMinuteAndDay, func(d *desk) {
		d.passes(costing("a", 6))
		time.Sleep(time.Minute)
		d.passes(costing("a", 4)).leaves("10", "0", "86400")
		d.limitedLong(costing("a", 6)).says("Retry-After", fmt.Sprint(24*60*60-60)).mentions("Limit 10, Used 10, Requested 6")
		last := d.seen[len(d.seen)-1]
		if last.Decision.Refused != 1 || last.State.Limit != 10 {
			d.Fatalf("%+v", last)
		}
		d.waitsOut(costing("a", 6))
	})
	story(t, "the order of the rules does not matter", httplimit.Options{
		Rule: window(10, 24*time.Hour), MoreRules: []limiter.Rule{limiter.TokenBucket{Size: 6, Refill: 6, Every: time.Minute}}, Cost: costHeader,
	}, func(d *desk) {
		d.passes(costing("a", 6)).leaves("6", "0", "60")
		d.limited(costing("a", 1)).leaves("6", "0", "60").says("Retry-After", "10")
		d.waitsOut(costing("a", 1))
		d.limitedLong(costing("a", 4)).leaves("10", "3", "86400")
	})
	story(t, "of two that are used up, the one that has all again later is shown", httplimit.Options{
		Rule: window(2, time.Minute), MoreRules: []limiter.Rule{limiter.Total{Limit: 2}, window(2, time.Hour)},
	}, func(d *desk) {
		d.passes(withKey("a")).leaves("2", "1", "")
		d.passes(withKey("a")).leaves("2", "0", "")
		d.refused(withKey("a"), http.StatusTooManyRequests, "insufficient_quota").says("Retry-After", "").says("x-should-retry", "false")
	})
	story(t, "too much for one of them", perMinuteAndDay, func(d *desk) {
		d.refused(costing("a", 7), http.StatusBadRequest, "request_exceeds_budget").leaves("6", "6", "0").says("Retry-After", "").
			mentions("Limit 6, Used 0, Requested 7")
		d.passes(costing("a", 6))
	})
}

// Requests in progress beside a quota: what is held is used in full, and no refusal hopes for its return.
func TestInProgressBesideOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		finish := make(chan struct{})
		d := &desk{T: t}
		d.handler = httplimit.New(httplimit.Options{
			Rule: limiter.AtOnce{Limit: 2}, MoreRules: []limiter.Rule{limiter.CalendarQuota{Limit: 3, Period: limiter.Day}},
		})(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			<-finish
			w.WriteHeader(http.StatusNoContent)
		}))
		begin := func() {
			go d.ask(withKey("a"))
			synctest.Wait()
		}
		end := func() {
			finish <- struct{}{}
			synctest.Wait()
		}
		begin()
		begin()
		d.limited(withKey("a")).says("Retry-After", "1").leaves("2", "0", "").mentions("in progress", "Held 2", "a guess")
		end()
		begin()
		spent := func() {
			t.Helper()
			d.refused(withKey("a"), http.StatusTooManyRequests, "insufficient_quota").leaves("3", "0", "86400").
				says("Retry-After", "86400").mentions("until Sunday")
		}
		spent() // a slot is taken, too: the quota waits longer
		end()
		spent()
		end()
		spent()
		time.Sleep(24 * time.Hour)
		begin()
		end()
	})
}

// A request in progress is one, whatever it costs, wherever among the rules that limit is.
func TestInProgressBesideACost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		finish := make(chan struct{})
		d := &desk{T: t}
		d.handler = httplimit.New(httplimit.Options{
			Rule: limiter.Total{Limit: 100}, MoreRules: []limiter.Rule{limiter.AtOnce{Limit: 1}}, Cost: costHeader,
		})(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			<-finish
			w.WriteHeader(http.StatusNoContent)
		}))
		go d.ask(costing("a", 5))
		synctest.Wait()
		d.limited(costing("a", 5)).mentions("in progress")
		finish <- struct{}{}
		synctest.Wait()
		go func() { finish <- struct{}{} }()
		d.passes(costing("a", 95))
		d.refused(costing("a", 1), http.StatusTooManyRequests, "insufficient_quota")
	})
}

// The number of clients told apart holds for every rule.
func TestMostClientsUnderEveryRule(t *testing.T) {
	story(t, "newcomers share", httplimit.Options{
		Rule: limiter.Total{Limit: 1000}, MoreRules: []limiter.Rule{limiter.Total{Limit: 2}}, MostClients: 1,
	}, func(d *desk) {
		d.passes(withKey("a"))
		d.passes(withKey("b"))
		d.passes(withKey("c"))
		d.refused(withKey("d"), http.StatusTooManyRequests, "insufficient_quota")
	})
}

// Whoever observes is told before the handler runs.
func TestObservedBeforeItIsPassedOn(t *testing.T) {
	var told []string
	handler := httplimit.New(httplimit.Options{
		Rule: limiter.Total{Limit: 1}, Observe: func(*http.Request, httplimit.Outcome) { told = append(told, "observed") },
	})(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { told = append(told, "handled") }))
	handler.ServeHTTP(httptest.NewRecorder(), withKey("a"))
	if !slices.Equal(told, []string{"observed", "handled"}) {
		t.Fatal(told)
	}
}

// Budgets of the caller's own making.
func TestSeveralBudgets(t *testing.T) {
	memory := limiter.NewMemory()
	few := memory.Family(limiter.FamilyOptions{Rule: limiter.Total{Limit: 2}})
	many := memory.Family(limiter.FamilyOptions{Rule: limiter.Total{Limit: 10}})
	more := []func(string) *limiter.Budget{many.Budget}
	d := newDesk(t, httplimit.Options{Budget: few.Budget, MoreBudgets: more})
	d.passes(from("@"))
	d.passes(from("@"))
	d.refused(from("@"), http.StatusTooManyRequests, "insufficient_quota")
	charge := []limiter.Charge{{Budget: many.Budget("unknown")}}
	if _, err := memory.Peek(t.Context(), charge); err != nil || charge[0].State.Used != 2 {
		t.Fatalf("%+v, %v", charge, err)
	}
	other := limiter.NewMemory().Family(limiter.FamilyOptions{Rule: limiter.Total{Limit: 10}})
	slots := memory.Family(limiter.FamilyOptions{Rule: limiter.AtOnce{Limit: 2}})
	for name, o := range map[string]httplimit.Options{ // mistakes of the program do not let requests pass uncounted
		"of two limiters": {Budget: other.Budget, MoreBudgets: more},
		"one twice":       {Budget: many.Budget, MoreBudgets: more},
		"none":            {Budget: func(string) *limiter.Budget { return nil }},
		"nobody's":        {Budget: func(string) *limiter.Budget { return new(limiter.Budget) }, MoreBudgets: []func(string) *limiter.Budget{slots.Budget}},
	} {
		t.Run(name, func(t *testing.T) {
			o.FailOpen = true
			d := newDesk(t, o)
			d.refused(from("@"), http.StatusInternalServerError, "internal_error").leaves("", "", "")
			if last := d.seen[len(d.seen)-1]; last.Err == nil || last.Status != http.StatusInternalServerError {
				t.Fatalf("%+v", last)
			}
		})
	}
}

// Of many at once, as many pass as the smaller limit has, and the larger one is charged for those alone.
func TestSeveralAtOnce(t *testing.T) {
	memory := limiter.NewMemory()
	few := memory.Family(limiter.FamilyOptions{Rule: limiter.Total{Limit: 5}})
	many := memory.Family(limiter.FamilyOptions{Rule: limiter.Total{Limit: 100}})
	d := newDesk(t, httplimit.Options{
		Budget: many.Budget, MoreBudgets: []func(string) *limiter.Budget{few.Budget}, Observe: func(*http.Request, httplimit.Outcome) {},
	})
	var passed atomic.Int64
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if d.ask(from("@")).Code == http.StatusNoContent {
				passed.Add(1)
			}
		})
	}
	all.Wait()
	charge := []limiter.Charge{{Budget: many.Budget("unknown")}}
	if _, err := memory.Peek(t.Context(), charge); err != nil || passed.Load() != 5 || charge[0].State.Used != 5 {
		t.Fatalf("%d passed, %+v, %v", passed.Load(), charge[0].State, err)
	}
}
