package ledgertest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// A budget whose unit was changed is one budget, and what both units were charged in one batch adds up.
func twoUnits(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	defer c.leave()
	for i, unit := range []string{"tokens", "requests", "tokens"} {
		b := call("key", "budget", int64(1+i))
		b.Charges[0].Budget.Unit = unit
		c.begin(b, time.Now())
		c.end(answer(b, int64(1+i), 0), time.Now())
	}
	charged := func() []int64 {
		return glance(t, c.store, func(v view) []int64 { return v.spent(ledger.Want{Budget: "budget"}) })
	}
	c.commit()
	same(t, "charged", charged(), []int64{6})
	c.rollUp()
	same(t, "charged, rolled up", charged(), []int64{6})
}

// Several writers have slots of their own, and come in the way of nobody.
func severalWriters(t *testing.T, h Harness, l Ledger) {
	if h.Writers < 2 {
		c := hire(t, l)
		defer c.leave()
		if _, err := reading(t, l).Resume(t.Context()); err == nil {
			t.Error("a store that was opened to read gave a slot to a writer")
		}
		return
	}
	const batches, size = 25, 8
	clerks := make([]*clerk, h.Writers)
	slots := map[int]bool{}
	for i := range clerks {
		clerks[i] = hire(t, l)
		slots[clerks[i].past.Slot] = true
	}
	if len(slots) != len(clerks) {
		t.Fatalf("%d writers have the slots %v", len(clerks), slots)
	}
	var wg sync.WaitGroup
	for _, c := range clerks {
		wg.Go(func() {
			for i := range batches {
				// The same budgets and hours in another order: none waits for another for ever.
				for j := range size {
					j = (j*(2*c.past.Slot+1) + i) % size
					b := c.begin(call("key", "budget"+string(rune('a'+j)), 1), time.Now().Add(-time.Duration(j)*time.Hour))
					c.end(answer(b, 1, 0), time.Now())
				}
				c.roll()
				b := c.take()
				if err := c.store.Commit(t.Context(), b); err != nil {
					t.Errorf("commit batch %d of writer %d beside others: %v", b.Number, b.Slot, err)
					return
				}
			}
		})
	}
	wg.Wait()
	got := glance(t, clerks[0].store, view.everything)
	all := int64(batches * size * len(clerks))
	if s := total(got); int64(len(got.Ended)) != all || s.Requests != all || s.Input != all {
		t.Errorf("%d exchanges, sums %+v; want %d", len(got.Ended), s, all)
	}
	for _, c := range clerks {
		c.leave()
	}
}

// What a writer left that died is charged and rolled up by one that takes its slot later, once. The dead one's batches are
// refused if it is not that dead.
func adopted(t *testing.T, h Harness, l Ledger) {
	if h.Writers < 3 {
		pastLife(t, h, l)
		return
	}
	at := time.Now().Add(-time.Minute)
	a, b := hire(t, l), hire(t, l)
	stay := a.begin(call("a", "budget", 1), at)
	a.commit()
	rolled := b.begin(call("b", "budget", 10), at)
	b.end(answer(rolled, 10, 0), at)
	b.rollUp()
	tail := b.begin(call("b", "budget", 100), at)
	e := b.end(answer(tail, 100, 0), at)
	b.correct(amend(tail, e, 1000), at)
	open := b.begin(call("b", "budget", 10_000), at)
	b.commit()
	b.begin(call("b", "budget", 100_000), at)
	late := b.take()
	l.Crash(t, b.store)

	want := []int64{11_111}
	spent := func(when string) {
		t.Helper()
		v := look(t, a.store)
		defer v.close()
		same(t, when, v.spent(ledger.Want{Budget: "budget"}), want)
		same(t, when, v.hours(ledger.HourQuery{From: ever.from, To: ever.to, Series: true})[ledger.Hour{Series: rolled.Series}].Requests, int64(2))
	}
	spent("after the crash")
	c := hire(t, l)
	same(t, "the dead one's slot", c.past.Slot, b.past.Slot)
	same(t, "unfinished", ids(c.past.Unfinished), []ledger.ID{open.Exchange})
	same(t, "not rolled up", ids(c.past.Tail), []ledger.ID{tail.Exchange})
	same(t, "corrections", len(c.past.Corrected), 1)
	if err := a.store.Commit(t.Context(), late); !errors.Is(err, ledger.ErrLocked) {
		t.Errorf("a batch of the dead one: %v, want an error that matches ErrLocked", err)
	}
	l.Crash(t, c.store)
	spent("after another crash")
	c = hire(t, l)
	same(t, "unfinished", ids(c.past.Unfinished), []ledger.ID{open.Exchange})
	same(t, "not rolled up", ids(c.past.Tail), []ledger.ID{tail.Exchange})
	d := hire(t, l) // while it is at work, the dead one is nobody else's
	if len(d.past.Unfinished)+len(d.past.Tail)+len(d.past.Corrected) > 0 {
		t.Errorf("two writers are told of the same past: %+v", d.past)
	}
	c.rollUp()
	requests := int64(3)
	check := func(when string) {
		t.Helper()
		v := look(t, a.store)
		defer v.close()
		same(t, when, v.spent(ledger.Want{Budget: "budget"}), want)
		same(t, when, v.hours(ledger.HourQuery{From: ever.from, To: ever.to, Series: true})[ledger.Hour{Series: rolled.Series}].Requests, requests)
		same(t, when+": unfinished", ids(v.unfinished()), []ledger.ID{stay.Exchange})
	}
	check("adopted")
	if err := a.store.Commit(t.Context(), late); !errors.Is(err, ledger.ErrLocked) {
		t.Errorf("a batch of the dead one: %v, want an error that matches ErrLocked", err)
	}
	c.leave()
	c = hire(t, l)
	if len(c.past.Unfinished)+len(c.past.Tail)+len(c.past.Corrected) > 0 {
		t.Errorf("after all was adopted, this is left: %+v", c.past)
	}
	c.rollUp()
	check("adopted, and started again")
	c.leave()
	d.leave()
	a.leave()
}

// A writer that has nothing to do, or is gone for good, keeps nobody from pruning.
func idleWriter(t *testing.T, h Harness, l Ledger) {
	idle := []*clerk{hire(t, l)}
	c := idle[0]
	if h.Writers > 1 {
		c = hire(t, l)
	}
	if h.Writers > 2 {
		once := hire(t, l)
		b := once.begin(call("key", "budget", 5), time.Now().Add(-20*time.Hour))
		once.end(answer(b, 5, 0), time.Now().Add(-20*time.Hour))
		once.rollUp()
		idle = append(idle, once)
	}
	history(c)
	c.commit()
	c.rollUp()
	want := glance(t, c.store, lasting)
	if n := c.prune(time.Now(), 1000); n != 40+len(idle)-1 {
		t.Errorf("%d dropped, want all of 40, and %d of another", n, len(idle)-1)
	}
	same(t, "all dropped", glance(t, c.store, lasting), want)
	if h.Writers > 1 {
		for _, i := range idle {
			i.leave()
		}
	}
	c.leave()
}
