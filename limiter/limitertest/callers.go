package limitertest

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// callers are stories with many goroutines. (P7)
func (h Harness) callers(t *testing.T) { h.tell(t, append(callerStories, orderStories...)) }

const callers = 100

// together runs f in as many goroutines as there are callers.
func together(f func(caller int)) {
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

var callerStories = []story{
	{"twenty times five pass, whatever the verb", func(d *desk) {
		ctx := context.Background()
		for verb, take := range map[string]func(b *limiter.Budget) (bool, error){
			"fast": func(b *limiter.Budget) (bool, error) { return b.TryAcquire(ctx, 5) },
			"try": func(b *limiter.Budget) (bool, error) {
				got, err := limiter.TryAcquire(ctx, d.Limiter, []limiter.Charge{{Budget: b, N: 5}})
				return got.OK, err
			},
			"reserve": func(b *limiter.Budget) (bool, error) {
				_, got, err := d.Reserve(ctx, []limiter.Charge{{Budget: b, N: 5}})
				return got.OK, err
			},
		} {
			for kind, rule := range map[string]limiter.Rule{
				"bucket":   bucket(104, 1, time.Minute),
				"window":   window(104, time.Hour, time.Second),
				"calendar": limiter.CalendarQuota{Limit: 104, Period: limiter.Quarter},
				"total":    limiter.Total{Limit: 104},
				"at once":  limiter.AtOnce{Limit: 104},
			} {
				if kind == "at once" && verb != "reserve" {
					continue
				}
				b := d.Budget(kind+" "+verb, rule)
				var passed atomic.Int64
				together(func(int) {
					if ok, err := take(b); err != nil {
						d.Error(err)
					} else if ok {
						passed.Add(1)
					}
				})
				if s := d.state(b); passed.Load() != 20 || s.Used+s.Held != 100 {
					d.Fatalf("%s, %s: %d passed, %+v", kind, verb, passed.Load(), s)
				}
			}
		}
	}},
	{"all or none, under crowding", func(d *desk) { // M1
		scarce, plenty := d.Budget("scarce", limiter.Total{Limit: 30}), d.Budget("plenty", window(1000, time.Hour, 0))
		var passed atomic.Int64
		together(func(i int) {
			charges := []limiter.Charge{{Budget: scarce, N: 1}, {Budget: plenty, N: 2}}
			if i%2 == 0 { // named in any order
				charges[0], charges[1] = charges[1], charges[0]
			}
			if got, err := limiter.TryAcquire(context.Background(), d.Limiter, charges); err == nil && got.OK {
				passed.Add(1)
			}
		})
		d.counts(scarce, 30, 0)
		d.counts(plenty, 60, 0)
		if passed.Load() != 30 {
			d.Fatalf("%d passed", passed.Load())
		}
	}},
	{"slots are never over-full", func(d *desk) {
		b := d.Budget("b", limiter.AtOnce{Limit: 7})
		var running, most, passed atomic.Int64
		together(func(int) {
			for range 20 {
				r, got, err := d.Reserve(context.Background(), []limiter.Charge{{Budget: b, N: 1}})
				if err != nil {
					d.Error(err)
				}
				if !got.OK {
					continue
				}
				passed.Add(1)
				now := running.Add(1)
				for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
				}
				running.Add(-1)
				if err := r.Cancel(context.Background()); err != nil {
					d.Error(err)
				}
			}
		})
		d.counts(b, 0, 0)
		if most.Load() > 7 || passed.Load() == 0 {
			d.Fatalf("%d at once, %d passed", most.Load(), passed.Load())
		}
	}},
	{"a draw that meets the end of its call is covered by it, or an error", func(d *desk) { // S1, S4
		for name, rule := range oneOfEach() {
			b := d.Budget(name, rule)
			for round := range 20 {
				r := d.reserve(b, 2)
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() {
						if got, err := r.Draw(context.Background(), []limiter.Charge{{Budget: b, N: 2}}); err == nil && !got.OK {
							d.Errorf("%s: %+v", name, got)
						}
					})
				}
				wg.Go(func() { _ = r.Cancel(context.Background()) })
				wg.Wait()
				if s := d.state(b); s.Held != 0 || s.Used != 0 || s.Open != 0 || s.Remaining != 10 {
					d.Fatalf("%s, round %d: %+v", name, round, s)
				}
			}
		}
	}},
	{"every verb at once, and the books are exact", everyVerb},
	{"rounds of a clock that moves: all that comes back is taken, and no more", func(d *desk) { // P7, B6
		b := d.Budget("b", bucket(100, 1000, time.Second))
		var passed atomic.Int64
		for round := range 25 {
			together(func(i int) {
				for range 3 {
					if ok, err := b.TryAcquire(context.Background(), int64(1+i%2)); err != nil {
						d.Error(err)
					} else if ok {
						passed.Add(int64(1 + i%2))
					}
				}
			})
			if want := 100 + 10*int64(round); passed.Load() != want {
				d.Fatalf("round %d: %d taken, want %d", round, passed.Load(), want)
			}
			d.advance(10 * time.Millisecond)
		}
	}},
}

// everyVerb has goroutines use every verb on the same budgets, named in any
// order, while others change rules and disturb, and wants the books exact:
// what was consumed is what the callers say they consumed, and nothing is left
// open. (P5, P7, S1, S4)
func everyVerb(d *desk) {
	calls, tight := 40, int64(20_000)
	if d.h.Tick > time.Nanosecond { // it is far away, and slower
		calls, tight = 5, 2_500
	}
	rules := map[string]limiter.Rule{
		"wide":    limiter.Total{Limit: 1 << 40},
		"tight":   limiter.Total{Limit: tight},
		"window":  window(1<<40, time.Hour, time.Minute),
		"bucket":  bucket(1<<26, 1, time.Minute), // the clock stands still
		"fixed":   bucket(1<<26, 1, time.Minute), // its rule stays
		"quarter": limiter.CalendarQuota{Limit: 1 << 40, Period: limiter.Quarter},
		"slots":   limiter.AtOnce{Limit: 1 << 20},
	}
	type book struct {
		b              *limiter.Budget
		consumed, over atomic.Int64
	}
	var books []*book
	for name, rule := range rules {
		books = append(books, &book{b: d.Budget(name, rule)})
	}
	var refused atomic.Int64
	ctx := context.Background()
	call := func() {
		order := rand.Perm(len(books))
		charges, actual, taken := make([]limiter.Charge, len(books)), make([]int64, len(books)), make([]int64, len(books))
		for i, at := range order {
			charges[i] = limiter.Charge{Budget: books[at].b, N: rand.Int64N(20)}
			taken[i] = charges[i].N
			actual[i] = taken[i]
		}
		verb := rand.IntN(6)
		if at := order[0]; rand.IntN(2) == 0 { // one of them by itself
			if ok, err := books[at].b.TryAcquire(ctx, 3); err != nil {
				d.Error(err)
			} else if ok {
				books[at].consumed.Add(3)
			}
		}
		switch verb {
		case 0:
			if got, err := limiter.TryAcquire(ctx, d.Limiter, charges); err != nil || !got.OK {
				refused.Add(1)
				return
			}
		case 1:
			if _, err := d.Peek(ctx, charges); err != nil {
				d.Error(err)
			}
			return
		case 2:
			if err := d.Inc(ctx, charges); err != nil {
				d.Error(err)
			}
			clear(taken)
		default:
			r, got, err := d.Reserve(ctx, charges)
			if err != nil || !got.OK {
				refused.Add(1)
				return
			}
			more := []limiter.Charge{{Budget: charges[0].Budget, N: 5}, {Budget: charges[1].Budget, N: 3}}
			if got, err := r.Draw(ctx, more); err != nil {
				d.Error(err)
			} else if got.OK {
				taken[0] += 5
				taken[1] += 3
			}
			for i := range actual {
				actual[i] = rand.Int64N(taken[i] + 3)
			}
			var wg sync.WaitGroup
			for range verb - 2 { // once, or several times at once
				wg.Go(func() {
					if err := r.Settle(ctx, actual); err != nil {
						d.Error(err)
					}
				})
			}
			wg.Wait()
		}
		for i, at := range order {
			books[at].consumed.Add(actual[i])
			books[at].over.Add(max(0, actual[i]-taken[i]))
		}
	}
	together(func(i int) {
		for n := range calls {
			call()
			if n%10 == i%10 {
				if d.h.Disturb != nil {
					d.h.Disturb(d.Limiter)
				}
				d.Budget("wide", limiter.Total{Limit: 1<<40 + rand.Int64N(3)})
				d.Budget("bucket", limiter.Revision{Rule: bucket(1<<26+rand.Int64N(3), 1, time.Minute), Generation: rand.Int64N(1000) + 1})
			}
		}
	})
	for _, k := range books {
		s, want := d.state(k.b), k.consumed.Load()
		if k.b.Name() == "slots" {
			want = 0
		}
		if s.Used != want || s.Held != 0 || s.Open != 0 {
			d.Errorf("%s: %+v, want %d used", k.b.Name(), s, want)
		}
		if admitted := k.consumed.Load() - k.over.Load(); k.b.Name() == "tight" && (admitted > tight || refused.Load() == 0) {
			d.Errorf("%d admitted to a budget of %d, %d calls refused", admitted, tight, refused.Load())
		}
	}
}
