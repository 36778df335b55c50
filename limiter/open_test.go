package limiter_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/limiter"
)

func TestOpen(t *testing.T) {
	story(t, "lists who holds what, the oldest first", func(d *desk) {
		tokens, calls := d.Budget("tokens", bucket(1000, 1, time.Second)), d.Budget("calls", limiter.AtOnce{Limit: 5})
		reserve := func(owner string, n int64) *limiter.Reservation {
			ctx := limiter.WithOwner(context.Background(), owner)
			r, _, err := d.Reserve(ctx, []limiter.Charge{{Budget: tokens, N: n}, {Budget: calls, N: 1}})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		ann := reserve("ann", 100)
		time.Sleep(time.Minute)
		bob := reserve("bob", 10)
		if _, err := ann.Draw(context.Background(), []limiter.Charge{{Budget: tokens, N: 7}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		want := []limiter.OpenReservation{
			{Owner: "ann", Age: 61 * time.Second, Charges: []limiter.OpenCharge{{Budget: "tokens", N: 107}, {Budget: "calls", N: 1}}},
			{Owner: "bob", Age: time.Second, Charges: []limiter.OpenCharge{{Budget: "tokens", N: 10}, {Budget: "calls", N: 1}}},
		}
		if diff := cmp.Diff(want, d.Open()); diff != "" {
			t.Fatal(diff)
		}
		d.settle(ann, 1, 1)
		if got := d.Open(); len(got) != 1 || got[0].Owner != "bob" || d.OpenCount() != 1 {
			t.Fatalf("%+v", got)
		}
		d.cancel(bob)
		if got := d.Open(); len(got) != 0 || d.OpenCount() != 0 {
			t.Fatalf("%+v", got)
		}
	})
	story(t, "many, made at once", func(d *desk) {
		b := d.Budget("b", limiter.Total{Limit: 1 << 40})
		var all []*limiter.Reservation
		for range 1000 {
			all = append(all, d.reserve(b, 1))
			time.Sleep(17 * time.Nanosecond)
		}
		for i := 0; i < len(all); i += 2 {
			d.settle(all[i], 1)
		}
		open := d.Open()
		if len(open) != 500 || d.OpenCount() != 500 {
			t.Fatalf("%d open", len(open))
		}
		for i := 1; i < len(open); i++ {
			if open[i].Age > open[i-1].Age {
				t.Fatal("not by age")
			}
		}
	})
}

func TestSettleOlder(t *testing.T) {
	story(t, "what was forgotten is used up, with its draws", func(d *desk) {
		b := d.Budget("b", limiter.Total{Limit: 1000})
		forgotten := d.reserve(b, 10)
		if _, err := forgotten.Draw(t.Context(), []limiter.Charge{{Budget: b, N: 5}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		young := d.reserve(b, 100)
		if n := d.SettleOlder(time.Hour); n != 1 {
			t.Fatalf("%d ended", n)
		}
		d.counts(b, 15, 100)
		d.settle(forgotten, 1) // too late
		d.counts(b, 15, 100)
		d.cancel(young)
		d.counts(b, 15, 0)
	})
}
