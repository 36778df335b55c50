package httplimit_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/httplimit"
)

// TestFlaws has one test for each published flaw of comparable middleware, in the words it was published in.
func TestFlaws(t *testing.T) {
	story(t, "Retry-After is a constant", httplimit.Options{Rule: bucket(100, 1, time.Second), Cost: costHeader}, func(d *desk) {
		d.passes(costing("a", 100))
		for _, n := range []int64{1, 2, 30, 59, 100} {
			d.limited(costing("a", n)).says("Retry-After", fmt.Sprint(n))
		}
		time.Sleep(700 * time.Millisecond)
		d.limited(costing("a", 1)).says("Retry-After", "1").says("retry-after-ms", "300")
		d.limited(costing("a", 2)).says("Retry-After", "2").says("retry-after-ms", "1300")
	})

	story(t, "trusting the first X-Forwarded-For hop", httplimit.Options{
		Rule: bucket(1, 1, time.Hour), TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
	}, func(d *desk) {
		d.passes(from("10.0.0.1:80", "X-Forwarded-For", "203.0.113.7"))
		for _, lie := range []string{"1.1.1.1", "2.2.2.2", "10.9.9.9", "127.0.0.1", "203.0.113.8", "not an address", "::1", ""} {
			d.refused(from("10.0.0.1:80", "X-Forwarded-For", lie+", 203.0.113.7"), http.StatusTooManyRequests, "rate_limit_exceeded")
			d.refused(from("10.0.0.1:80", "X-Forwarded-For", lie, "X-Forwarded-For", "203.0.113.7, 10.0.0.2"), http.StatusTooManyRequests, "rate_limit_exceeded")
		}
		// Nor can one client use up the limit of another.
		d.passes(from("10.0.0.1:80", "X-Forwarded-For", "203.0.113.8"))
		// And who does not come through a trusted proxy is not believed at all.
		d.passes(from("203.0.113.9:80", "X-Forwarded-For", "203.0.113.10"))
		d.refused(from("203.0.113.9:81", "X-Forwarded-For", "203.0.113.11"), http.StatusTooManyRequests, "rate_limit_exceeded")
		d.passes(from("10.0.0.1:80", "X-Forwarded-For", "203.0.113.10"))
	})

	t.Run("raw secret as map key", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			const secret = "sk-very-secret-0123456789"
			family := limiter.NewMemory().Family(limiter.FamilyOptions{Rule: bucket(2, 1, time.Second)})
			names := func(o httplimit.Options) (name string) {
				o.Budget = func(client string) *limiter.Budget {
					name = client
					return family.Budget(client)
				}
				newDesk(t, o).ask(withKey(secret))
				return name
			}
			first, second := names(httplimit.Options{}), names(httplimit.Options{})
			if !strings.HasPrefix(first, "key ") || len(first) != len("key ")+32 || strings.Contains(first, secret) {
				t.Errorf("the name of a budget is %q", first)
			}
			if first == second {
				t.Error("the hash has no random key: whoever sees a name can search for its key")
			}
			shared := httplimit.Options{HashKey: []byte("the same on each server")}
			if first, second = names(shared), names(shared); first != second {
				t.Errorf("servers with the same HashKey do not agree: %q and %q", first, second)
			}
		})
	})

	t.Run("spurious 429 when cleanup races a request", func(t *testing.T) {
		family := limiter.NewMemory().Family(limiter.FamilyOptions{Rule: bucket(3, 1, time.Hour)})
		ctx, stop := context.WithCancel(t.Context())
		var cleaner, callers sync.WaitGroup
		cleaner.Go(func() {
			for ctx.Err() == nil {
				family.Sweep()
			}
		})
		d := newDesk(t, httplimit.Options{
			Budget: family.Budget, Cost: costHeader, Observe: func(*http.Request, httplimit.Outcome) {},
		})
		for caller := range 4 {
			callers.Go(func() {
				for i := range 500 {
					key := fmt.Sprint(caller, " ", i)
					for n, want := range []int{204, 204, 204, 204, 429} { // the first asks only, and leaves a bucket that looks idle
						if got := d.ask(costing(key, int64(min(n, 1)))); got.Code != want {
							t.Errorf("call %d of a new client is answered %d", n, got.Code)
							return
						}
					}
				}
			})
		}
		callers.Wait()
		stop()
		cleaner.Wait()
	})
}

// H3: nothing that is shown to anybody holds a key, whatever becomes of the request.
func TestH3NoSecretAnywhere(t *testing.T) {
	const secret = "sk-very-secret-0123456789"
	for name, o := range map[string]httplimit.Options{
		"bucket":   {Rule: bucket(1, 1, time.Second), Cost: costHeader},
		"total":    {Rule: limiter.Total{Limit: 1}, Cost: costHeader},
		"calendar": {Rule: limiter.CalendarQuota{Limit: 1, Period: limiter.Month}, Cost: costHeader},
		"store": {Budget: func(c string) *limiter.Budget {
			return limiter.NewBudget(broken{limiter.NewMemory()}, c, bucket(1, 1, 1), nil)
		}},
	} {
		story(t, name, o, func(d *desk) {
			var shown strings.Builder
			for _, n := range []int64{1, 1, 2, 0, -1} {
				got := d.ask(costing(secret, n))
				fmt.Fprintln(&shown, got.Code, got.Result().Header, got.Body)
			}
			fmt.Fprintf(&shown, "%+v", d.seen)
			for _, seen := range d.seen {
				fmt.Fprintln(&shown, seen.Err)
			}
			if strings.Contains(shown.String(), secret) || !strings.Contains(shown.String(), "error") {
				d.Fatal(shown.String())
			}
		})
	}
}
