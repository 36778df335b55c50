package limitertest

import (
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

var ruleStories = []story{
	{"the newest rule wins, what was consumed stays consumed", func(d *desk) {
		for name, rules := range map[string][3]limiter.Rule{
			"bucket":   {bucket(100, 10, time.Hour), bucket(40, 10, time.Minute), bucket(200, 1, time.Hour)},
			"window":   {window(100, time.Hour, 0), window(40, 2*time.Hour, time.Minute), window(200, time.Hour, time.Second)},
			"calendar": {limiter.CalendarQuota{Limit: 100, Period: limiter.Quarter}, limiter.CalendarQuota{Limit: 40, Period: limiter.Quarter}, limiter.CalendarQuota{Limit: 200, Period: limiter.Quarter}},
			"total":    {limiter.Total{Limit: 100}, limiter.Total{Limit: 40}, limiter.Total{Limit: 200}},
		} {
			b := d.Budget(name, rules[0])
			d.passes(b, 50)
			r := d.reserve(b, 20)
			if again := d.Budget(name, rules[1]); again != b || b.Rule() != rules[1] || b.Name() != name || b.Generation() != 2 {
				d.Fatalf("%s: another handle, or an old rule", name)
			}
			d.counts(b, 50, 20)
			d.remains(b, 0)
			d.refused(b, 1)
			if got := d.refused(b, 41); got.RetryAfter != limiter.Never || !got.TooBig {
				d.Fatalf("%s: %+v", name, got)
			}
			d.Budget(name, rules[2])
			if got := d.peek(limiter.Charge{Budget: b, N: 131}); got.OK || got.TooBig {
				d.Fatalf("%s, a limit that has it: %+v", name, got)
			}
			d.passes(b, 130)
			d.settle(r, 5)
			d.counts(b, 185, 0)
		}
	}},
	{"a larger size does not fill a bucket, a smaller one does not empty it", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		d.passes(b, 4)
		d.Budget("b", bucket(20, 1, time.Second))
		d.remains(b, 16)
		d.Budget("b", bucket(5, 1, time.Second))
		d.remains(b, 1)
		d.advance(time.Second)
		d.remains(b, 2)
		d.Budget("b", bucket(10, 1, time.Second))
		d.remains(b, 7)
	}},
	{"another refill keeps the fraction of a unit", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, 3*time.Second))
		d.passes(b, 10)
		d.advance(time.Second) // a third of a unit
		d.Budget("b", bucket(10, 1, 7*time.Second))
		d.waits(b, 1, 4_666_666_667) // two thirds of 7 s
	}},
	{"a rule for the future does not change what time has given back", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		d.passes(b, 10)
		d.advance(4 * time.Second)
		d.Budget("b", bucket(10, 1, time.Hour))
		d.remains(b, 4)
		d.Budget("b", bucket(10, 10, time.Second))
		d.remains(b, 4)
	}},
	{"what has left a shorter window does not come back in a longer one", func(d *desk) {
		b := d.Budget("b", window(10, time.Minute, 0))
		d.passes(b, 10)
		d.advance(30 * time.Second)
		d.Budget("b", window(10, 20*time.Second, 0))
		d.counts(b, 0, 0)
		d.passes(b, 4)
		d.Budget("b", window(10, 2*time.Minute, 0))
		d.counts(b, 4, 0)
		d.told(b, 7, 2*time.Minute)
	}},
	{"a rule that starts empty takes nothing from a bucket that is there", func(d *desk) {
		rule := bucket(10, 1, time.Second)
		b := d.Budget("b", rule)
		d.passes(b, 3)
		rule.StartEmpty = true
		d.Budget("b", rule)
		d.remains(b, 7)
	}},
	{"another kind begins with what counted", func(d *desk) {
		d.until(nextDay(d.h.now(d), time.UTC, lasts(24*time.Hour)))
		b := d.Budget("b", limiter.Total{Limit: 100})
		d.passes(b, 30)
		kept, over := d.reserve(b, 20), d.reserve(b, 10)
		if d.Budget("b", bucket(100, 1, time.Second)) != b {
			d.Fatal("another handle")
		}
		d.counts(b, 60, 0)
		d.settle(kept, 0)
		d.settle(over, 15)
		d.counts(b, 65, 0)
		d.Budget("b", limiter.CalendarQuota{Limit: 100, Period: limiter.Day})
		d.counts(b, 65, 0)
		d.passes(b, 35)
		d.waits(b, 1, 24*time.Hour)
	}},
	{"a higher generation wins, an older or equal one does not", func(d *desk) {
		b := d.Budget("b", limiter.Revision{Rule: limiter.Total{Limit: 10}, Generation: 7})
		in := func(limit, generation int64) {
			d.Helper()
			if b.Rule() != (limiter.Total{Limit: limit}) || b.Generation() != generation {
				d.Fatalf("%+v, generation %d; want %d, %d", b.Rule(), b.Generation(), limit, generation)
			}
			if s := d.state(b); s.Limit != limit || s.Used != 4 {
				d.Fatalf("%+v, want a limit of %d", s, limit)
			}
		}
		d.passes(b, 4)
		in(10, 7)
		for _, c := range []struct{ limit, generation, wantLimit, wantGeneration int64 }{
			{20, 6, 10, 7},   // older
			{20, 7, 10, 7},   // equal: the first one stays
			{20, 9, 20, 9},   // newer
			{30, 8, 20, 9},   // late
			{20, 12, 20, 12}, // newer, and the same
			{30, 10, 20, 12},
		} {
			if d.Budget("b", limiter.Revision{Rule: limiter.Total{Limit: c.limit}, Generation: c.generation}) != b {
				d.Fatal("another handle")
			}
			in(c.wantLimit, c.wantGeneration)
		}
		d.Budget("b", limiter.Total{Limit: 20}) // in force already
		in(20, 12)
		d.Budget("b", limiter.Total{Limit: 40}) // without a generation: the next
		in(40, 13)
		d.Budget("b", limiter.Revision{Rule: limiter.Total{Limit: 50}, Generation: 13})
		in(40, 13)
		d.Budget("b", limiter.Revision{Rule: limiter.Total{Limit: 50}, Generation: 14})
		in(50, 14)
	}},
	{"generations of a budget that had none", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		if b.Generation() != 1 {
			d.Fatalf("generation %d at first", b.Generation())
		}
		d.Budget("b", limiter.Revision{Rule: bucket(20, 1, time.Second), Generation: 1})
		if b.Generation() != 1 || d.state(b).Limit != 10 {
			d.Fatalf("the same generation: %+v", d.state(b))
		}
		d.Budget("b", limiter.Revision{Rule: window(30, time.Second, 0), Generation: 2}) // of any kind
		if b.Generation() != 2 || d.state(b).Limit != 30 {
			d.Fatalf("the next generation: %+v", d.state(b))
		}
	}},
	{"a new rule does not free what calls hold, nor change what they settle", func(d *desk) {
		for name, rule := range oneOfEach() {
			b := d.Budget(name, rule)
			r := d.reserve(b, 8)
			larger := rule
			switch r := rule.(type) {
			case limiter.TokenBucket:
				r.Size = 20
				larger = r
			case limiter.SlidingWindow:
				r.Limit = 20
				larger = r
			case limiter.CalendarQuota:
				r.Limit = 20
				larger = r
			case limiter.Total:
				larger = limiter.Total{Limit: 20}
			case limiter.AtOnce:
				larger = limiter.AtOnce{Limit: 20}
			}
			d.Budget(name, larger)
			if s := d.state(b); s.Limit != 20 || s.Held != 8 || s.Remaining != 12 || s.Open != 1 {
				d.Fatalf("%s: %+v", name, s)
			}
			d.draws(r, b, 12)
			d.settle(r, 0)
			d.remains(b, 20)
		}
	}},
	{"rules that make no sense panic, and change nothing", func(d *desk) {
		for what, rule := range map[string]limiter.Rule{
			"no size":                bucket(0, 1, time.Second),
			"no refill":              bucket(1, 0, time.Second),
			"no window":              window(1, 0, 0),
			"grain over window":      window(1, time.Second, 2*time.Second),
			"no calendar period":     limiter.CalendarQuota{Limit: 1},
			"negative total":         limiter.Total{Limit: -1},
			"none at once":           limiter.AtOnce{},
			"nil":                    nil,
			"a pointer":              &limiter.Total{Limit: 1},
			"revision of nothing":    limiter.Revision{Generation: 7},
			"revision of nonsense":   limiter.Revision{Rule: limiter.Total{}, Generation: 7},
			"revision of a revision": limiter.Revision{Rule: limiter.Revision{Rule: limiter.Total{Limit: 1}, Generation: 7}, Generation: 8},
			"revision zero":          limiter.Revision{Rule: limiter.Total{Limit: 1}},
			"negative revision":      limiter.Revision{Rule: limiter.Total{Limit: 1}, Generation: -1},
		} {
			known := d.Budget("known", bucket(10, 1, time.Second))
			for _, name := range []string{"new", "known"} {
				func() {
					defer func() {
						if s, _ := recover().(string); !strings.HasPrefix(s, "BUG: ") {
							d.Errorf("%s: did not panic as a bug, but with %q", what, s)
						}
					}()
					d.Budget(name, rule)
				}()
			}
			if known.Generation() != 1 || d.state(known).Limit != 10 {
				d.Fatalf("%s: %+v", what, known.Rule())
			}
		}
	}},
}
