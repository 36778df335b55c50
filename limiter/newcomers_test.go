package limiter_test

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

func TestFamilyIsBounded(t *testing.T) {
	story(t, "newcomers to a full family share one budget, and bring it along", func(d *desk) {
		f := d.family(bucket(10, 1, time.Second), 2)
		d.passes(f.Budget("ann"), 10)
		d.passes(f.Budget("bob"), 10)
		d.passes(f.Budget("eve1"), 6)
		d.passes(f.Budget("eve2"), 3)
		d.waits(f.Budget("eve3"), 2, time.Second)
		if f.Len() != 2 {
			t.Fatalf("%d names", f.Len())
		}
		d.passes(f.Budget("eve1"), 2) // the newcomers' budget is drained again
		time.Sleep(9 * time.Second)
		// Ann and Bob are whole, and one of them makes room; of what the
		// newcomers share, one is still missing.
		d.waits(f.Budget("eve1"), 10, time.Second)
		d.passes(f.Budget("eve1"), 9)
		if b := f.Budget("eve1"); b.Name() != "eve1" || f.Len() != 1 || f.Shared() != 4 {
			t.Fatalf("%s of %d names, %d times the common budget", b.Name(), f.Len(), f.Shared())
		}
		time.Sleep(time.Second)
		f.Sweep()
		d.passes(f.Budget("eve2"), 10)
	})
	story(t, "nobody is dropped for room that there is, while it would be charged for others when it comes back", func(d *desk) {
		f := d.family(bucket(10, 1, time.Second), 2)
		d.passes(f.Set("ann", bucket(10, 1, time.Second)), 1)
		d.passes(f.Budget("bob"), 1)
		d.passes(f.Budget("eve"), 10)
		time.Sleep(time.Second)
		if f.Sweep() != 1 || f.Len() != 1 {
			t.Fatal("not dropped, though the family is full")
		}
		f.Unset("ann")
		time.Sleep(8 * time.Second)
		if f.Sweep() != 0 {
			t.Fatal("dropped")
		}
		if b := f.Find("bob"); b == nil || b.Name() == "bob" {
			t.Fatal("what counts for a newcomer is not to be seen")
		}
		time.Sleep(time.Second)
		if f.Sweep() != 1 || f.Find("bob") != nil {
			t.Fatal("not dropped when the newcomers' budget is whole")
		}
	})
	story(t, "a trickle of newcomers does not keep a family full", func(d *desk) {
		f := d.family(bucket(10, 1, time.Second), 100)
		for i := range 100 {
			d.passes(f.Budget(fmt.Sprint("old", i)), 10)
		}
		for i := range 24 * 3600 / 7 { // one every seven seconds, for a day: the common budget alone would never be whole
			d.take(f.Budget(fmt.Sprint("new", i)), 10)
			time.Sleep(7 * time.Second)
			if i > 0 && i%500 == 0 {
				f.Sweep()
			}
		}
		f.Sweep()
		if f.Len() > 10 || f.Shared() > 2 {
			t.Fatalf("%d names, the common budget was handed out %d times", f.Len(), f.Shared())
		}
	})
	story(t, "what newcomers have spent counts for each that gets a budget of its own, until it has left", func(d *desk) {
		f := d.family(window(10, time.Minute, 0), 1)
		d.passes(f.Budget("ann"), 1)
		time.Sleep(20 * time.Second)
		d.passes(f.Budget("eve"), 4)
		time.Sleep(10 * time.Second)
		d.passes(f.Budget("eve"), 3)
		time.Sleep(30 * time.Second) // ann's has left
		d.waits(f.Budget("eve"), 4, 30*time.Second)
		d.passes(f.Budget("eve"), 3)
		d.waits(f.Budget("eve"), 8, time.Minute)
	})
	for _, rule := range []limiter.Rule{limiter.Total{Limit: 10}, limiter.CalendarQuota{Limit: 10, Period: limiter.Day}} {
		story(t, fmt.Sprintf("what newcomers have spent counts for each: %T", rule), func(d *desk) {
			f := d.family(rule, 1)
			ann := d.reserve(f.Budget("ann"), 1)
			r := d.reserve(f.Budget("eve"), 6)
			d.cancel(ann)
			if f.Sweep() != 1 {
				t.Fatal("no room")
			}
			d.refused(f.Budget("eve"), 5)
			d.passes(f.Budget("eve"), 4)
			if f.Budget("eve").Name() != "eve" {
				t.Fatal("no budget of its own")
			}
			d.cancel(r)
		})
	}
	story(t, "a rule of its own is charged as when a rule is changed", func(d *desk) {
		f := d.family(bucket(10, 1, time.Second), 1)
		d.passes(f.Budget("ann"), 1)
		d.passes(f.Budget("eve"), 6)
		d.passes(f.Set("eve", window(20, time.Minute, 0)), 14)
		d.waits(f.Budget("eve"), 1, time.Minute)
	})
	for _, rule := range []limiter.Rule{bucket(10, 1, time.Hour), window(10, time.Hour, 0)} {
		story(t, fmt.Sprintf("what newcomers hold counts for each, too: %T", rule), func(d *desk) {
			f := d.family(rule, 1)
			ann := d.reserve(f.Budget("ann"), 1)
			r := d.reserve(f.Budget("eve"), 7)
			d.cancel(ann)
			time.Sleep(2 * time.Second) // a full family looks for room once a second
			if d.refused(f.Budget("eve"), 4); f.Budget("eve").Name() != "eve" {
				t.Fatal("no budget of its own")
			}
			d.cancel(r)
		})
	}
	story(t, "a name that begins empty does so after newcomers, too", func(d *desk) {
		rule := bucket(10, 1, time.Second)
		rule.StartEmpty = true
		f := d.family(rule, 1)
		f.Budget("ann")
		f.Budget("eve")
		time.Sleep(time.Hour)
		d.waits(f.Set("bob", rule), 1, time.Second)
	})
	story(t, "a guess does not depend on whether the name was dropped", func(d *desk) {
		var got [2]time.Duration
		for i := range got {
			f := d.family(limiter.AtOnce{Limit: 5}, 0)
			rule := limiter.AtOnce{Limit: 1}
			r := d.reserve(f.BudgetUnder("ann", rule), 1)
			time.Sleep(10 * time.Second)
			d.settle(r, 1)
			if i == 1 && f.Sweep() != 1 {
				t.Fatal("not dropped")
			}
			r = d.reserve(f.BudgetUnder("ann", rule), 1)
			got[i] = d.refused(f.BudgetUnder("ann", rule), 1).RetryAfter
			d.settle(r, 1)
		}
		if got[0] != got[1] || got[0] != 10*time.Second {
			t.Fatal(got)
		}
	})
	story(t, "calls at once count for a name of another limit, until the last of them ends", func(d *desk) {
		f := d.family(limiter.AtOnce{Limit: 3}, 1)
		ann := d.reserve(f.Budget("ann"), 1)
		eve := []*limiter.Reservation{d.reserve(f.Budget("eve"), 1), d.reserve(f.Budget("eve"), 1)}
		own := f.Set("eve", limiter.AtOnce{Limit: 2})
		d.refused(own, 1)
		d.cancel(eve[0])
		d.cancel(d.reserve(own, 1))
		d.refused(own, 2)
		d.cancel(eve[1])
		d.cancel(d.reserve(own, 2))
		d.cancel(ann)
	})
	story(t, "calls at once that newcomers have begun count for each until they end", func(d *desk) {
		f := d.family(limiter.AtOnce{Limit: 3}, 1)
		ann := d.reserve(f.Budget("ann"), 1)
		eve, bob := d.reserve(f.Budget("eve"), 2), d.reserve(f.Budget("bob"), 1)
		d.cancel(ann)
		time.Sleep(2 * time.Second) // a full family looks for room once a second
		if got, s := d.take(f.Budget("eve"), 1); got.OK || s.Held != 3 {
			t.Fatalf("a fourth call: %+v", s)
		}
		if f.Budget("eve").Name() != "eve" {
			t.Fatal("no budget of its own when there is room")
		}
		d.cancel(bob)
		more := d.reserve(f.Budget("eve"), 1)
		d.refused(f.Budget("eve"), 1)
		d.cancel(eve)
		d.cancel(d.reserve(f.Budget("eve"), 2))
		d.cancel(more)
		if f.Sweep() != 1 {
			t.Fatal("not as good as new")
		}
	})
	story(t, "a change of kind does not lose who holds what", func(d *desk) {
		f := d.family(bucket(10, 1, time.Second), 0)
		r := d.reserve(f.Budget("ann"), 5)
		f.Set("ann", window(10, time.Second, 0))
		f.Unset("ann")
		time.Sleep(time.Minute)
		if f.Sweep() != 0 {
			t.Fatal("dropped while held")
		}
		d.settle(r, 15)
		d.counts(f.Budget("ann"), 10, 0)
	})
	story(t, "a name that is held for nothing yet stays, though others charge it the fast way", func(d *desk) {
		f := d.family(bucket(10, 1, time.Second), 0)
		r := d.reserve(f.Budget("ann"), 0)
		d.passes(f.Budget("ann"), 1)
		time.Sleep(10 * time.Second)
		if f.Sweep() != 0 {
			t.Fatal("dropped while held")
		}
		d.settle(r, 7)
		d.counts(f.Budget("ann"), 7, 0)
	})
	t.Run("room for any number", func(t *testing.T) {
		f := limiter.NewMemory().Family(limiter.FamilyOptions{Rule: limiter.Total{Limit: 9}, Most: math.MaxInt})
		if ok, err := f.Budget("ann").TryAcquire(context.Background(), 9); !ok || err != nil {
			t.Fatal(ok, err)
		}
	})
	t.Run("never more names than allowed, however many make them", func(t *testing.T) {
		f := limiter.NewMemory().Family(limiter.FamilyOptions{Rule: limiter.Total{Limit: 9}, Most: 2000})
		var wg sync.WaitGroup
		var over atomic.Int64
		for maker := range 8 {
			wg.Go(func() {
				for i := range 2000 {
					b := f.Budget(strconv.Itoa(maker) + "/" + strconv.Itoa(i))
					if _, err := b.TryAcquire(context.Background(), 1); err != nil || f.Len() > 2000+8 { // of which up to 8 are being turned away
						over.Add(1)
					}
				}
			})
		}
		wg.Wait()
		if over.Load() > 0 || f.Len() != 2000 {
			t.Fatalf("%d names, %d times too many", f.Len(), over.Load())
		}
	})
	story(t, "names made up by the million do not grow the family", func(d *desk) {
		f := d.family(bucket(10, 1, time.Hour), 1000)
		refused := 0
		for i := range 100_000 {
			if got, _ := d.take(f.Budget(strconv.Itoa(i)), 1); !got.OK {
				refused++
			}
		}
		if f.Len() != 1000 || refused != 100_000-1000-10 {
			t.Fatalf("%d names, %d refused", f.Len(), refused)
		}
	})
	story(t, "growth drops what is idle by itself", func(d *desk) {
		f := d.Family(limiter.FamilyOptions{Rule: bucket(10, 1, time.Second)})
		most := 0
		for i := range 200_000 {
			d.passes(f.Budget(strconv.Itoa(i)), 1)
			most = max(most, f.Len())
			if i%100 == 0 {
				time.Sleep(time.Second)
			}
		}
		if f.Dropped()+int64(f.Len()) != 200_000 {
			t.Fatalf("%d dropped, %d left", f.Dropped(), f.Len())
		}
		if most > 100_000 {
			t.Fatalf("%d names at once, of which 100 were in use", most)
		}
	})
}
