package limitbench

import (
	"strconv"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/tokenfare/tokenfare/limiter"
)

// BenchmarkReserveSettle takes an estimate, with so many other reservations
// open, and settles the oldest at a part of it. x/time/rate is the one
// contender with anything like it; its CancelAt gives back nothing of what
// could have been used at once, so the call does less.
func BenchmarkReserveSettle(b *testing.B) {
	for _, open := range []int{0, 100, 1000} {
		b.Run(strconv.Itoa(open), func(b *testing.B) {
			o, x := newOurs(plenty, steady).(ours), newXRate(plenty, steady).(*xRate)
			compare(b, true, []*subject{
				{name: "tokenfare", run: o.reserveSettleAmong(open)},
				{name: "x-time-rate", run: x.reserveCancelAmong(open)},
			})
		})
	}
}

// reserveSettle reserves two, uses one, and settles.
func (o ours) reserveSettle(n int) (passed int) {
	charges, actual := []limiter.Charge{{Budget: o.b, N: 2}}, []int64{1}
	for range n {
		r, _, err := o.m.Reserve(ctx, charges)
		if err == nil && r != nil && r.Settle(ctx, actual) == nil {
			passed++
		}
	}
	return passed
}

func (o ours) reserveSettleAmong(open int) func(n int) (passed int) {
	charges, actual := []limiter.Charge{{Budget: o.b, N: 2}}, []int64{1}
	ring, at := make([]*limiter.Reservation, open+1), 0
	return func(n int) (passed int) {
		for range n {
			settled := ring[at].Settle(ctx, actual)
			r, _, err := o.m.Reserve(ctx, charges)
			if err == nil && r != nil && settled == nil {
				passed++
			}
			ring[at] = r
			if at++; at == len(ring) {
				at = 0
			}
		}
		return passed
	}
}

func (x *xRate) reserveCancel(n int) (passed int) {
	for range n {
		now := time.Now()
		if r := x.l.ReserveN(now, 2); r.OK() {
			r.CancelAt(now)
			passed++
		}
	}
	return passed
}

func (x *xRate) reserveCancelAmong(open int) func(n int) (passed int) {
	ring, at := make([]*rate.Reservation, open+1), 0
	return func(n int) (passed int) {
		for range n {
			if r := ring[at]; r != nil {
				r.CancelAt(time.Now())
			}
			r := x.l.ReserveN(time.Now(), 2)
			if r.OK() {
				passed++
			}
			ring[at] = r
			if at++; at == len(ring) {
				at = 0
			}
		}
		return passed
	}
}

// BenchmarkFourBudgets charges four budgets in one call: tokens and requests a
// minute, a month, a total. The alternative is four limiters in a row, which
// leaves the first charged when the last refuses.
func BenchmarkFourBudgets(b *testing.B) {
	four := func(kinds ...limiter.Rule) func(n int) (passed int) {
		m := limiter.NewMemory()
		charges := make([]limiter.Charge, 4)
		for i := range charges {
			charges[i] = limiter.Charge{Budget: m.Budget(strconv.Itoa(i), kinds[i%len(kinds)]), N: 1}
		}
		return func(n int) (passed int) {
			for range n {
				if d, err := limiter.TryAcquire(ctx, m, charges); err == nil && d.OK {
					passed++
				}
			}
			return passed
		}
	}
	inARow := []*rate.Limiter{newXRate(plenty, steady).(*xRate).l, newXRate(plenty, steady).(*xRate).l, newXRate(plenty, steady).(*xRate).l, newXRate(plenty, steady).(*xRate).l}
	compare(b, true, []*subject{
		{name: "tokenfare", run: four(bucket(plenty, steady))},
		{name: "tokenfare-mixed", run: four(bucket(plenty, steady), limiter.SlidingWindow{Limit: plenty, Window: time.Minute, Grain: time.Second},
			limiter.CalendarQuota{Limit: plenty, Period: limiter.Month}, limiter.Total{Limit: plenty})},
		{name: "x-time-rate", run: func(n int) (passed int) {
			for range n {
				ok := true
				for _, l := range inARow {
					ok = ok && l.Allow()
				}
				if ok {
					passed++
				}
			}
			return passed
		}},
	})
}

// BenchmarkRules is every kind of rule, decided and reserved.
func BenchmarkRules(b *testing.B) {
	m := limiter.NewMemory()
	var subjects []*subject
	for _, k := range []struct {
		name string
		rule limiter.Rule
	}{
		{"bucket", bucket(plenty, steady)},
		{"window-1s-grain", limiter.SlidingWindow{Limit: plenty, Window: time.Minute, Grain: time.Second}},
		{"calendar", limiter.CalendarQuota{Limit: plenty, Period: limiter.Month}},
		{"total", limiter.Total{Limit: plenty}},
		{"at-once", limiter.AtOnce{Limit: plenty}},
	} {
		o := ours{m: m, b: m.Budget(k.name, k.rule)}
		subjects = append(subjects,
			&subject{name: k.name, run: o.one},
			&subject{name: k.name + "-reserve-settle", run: o.reserveSettle})
	}
	compare(b, true, subjects)
}
