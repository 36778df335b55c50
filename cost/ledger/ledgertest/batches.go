package ledgertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// everything is what a ledger says to all questions there are.
type everything struct {
	Began, Ended, Unfinished []ledger.Exchange
	Corrections              []ledger.Correction
	Hours                    map[ledger.Hour]ledger.Sums
	Slots                    map[ledger.Slot]int64
	Refusals                 []ledger.Refusal
	Notices                  []ledger.Notice
}

func (v view) everything() everything {
	v.t.Helper()
	return everything{
		v.began(ever.from, ever.to), v.ended(ever.from, ever.to), v.unfinished(), v.corrections(ever.from, ever.to), v.hours(apart),
		v.slots(ever.from, ever.to), v.refusals(ever.from, ever.to), v.notices(),
	}
}

// fillBatch puts some of everything into the clerk's batch.
func fillBatch(c *clerk, at time.Time) {
	open := c.begin(call("key", "budget", 5), at)
	c.draw(&ledger.Draw{Exchange: open.Exchange, Step: 1, More: cost.Usage{Output: 3}, Charges: []ledger.Charge{{Budget: tokens("budget"), N: 3}}})
	b := c.begin(call("key", "budget", 7), at)
	e := c.end(answer(b, 6, 1), at.Add(time.Second))
	c.correct(amend(b, e, -2), at.Add(2*time.Second))
	c.batch.Refusals = []ledger.Refusal{{Hour: ledger.HourOf(at), Key: "key", Model: "model", Code: "code", N: 3}}
	c.batch.Notices = []ledger.Notice{{Budget: "budget", Period: 4, At: "80%"}}
	c.batch.Prices = []ledger.PriceCard{{Version: "v1", Card: "{}"}}
	c.roll()
}

// A batch whose commit fails leaves nothing, and is written whole when it is tried again.
func allOrNothing(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	defer c.leave()
	before := glance(t, c.store, view.everything)
	fillBatch(c, time.Now())
	b := c.take()
	bad := *b
	bad.Number++ // does not follow
	if err := c.store.Commit(t.Context(), &bad); !errors.Is(err, ledger.ErrLocked) {
		t.Errorf("batch %d after %d: %v, want an error that matches ErrLocked", bad.Number, b.Number-1, err)
	}
	same(t, "after a batch that was refused", glance(t, c.store, view.everything), before)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.store.Commit(ctx, b); err == nil {
		t.Error("a commit whose context has ended returned nil")
	}
	same(t, "after a commit that failed", glance(t, c.store, view.everything), before)
	if err := c.store.Commit(t.Context(), b); err != nil {
		t.Fatalf("commit again: %v", err)
	}
	after := glance(t, c.store, view.everything)
	if len(after.Began) != 2 || len(after.Ended) != 1 || len(after.Unfinished) != 1 || len(after.Unfinished[0].Draws) != 1 || len(after.Corrections) != 1 ||
		len(after.Hours) != 1 || len(after.Slots) == 0 || len(after.Refusals) != 1 || len(after.Notices) != 1 {
		t.Errorf("after the batch: %+v", after)
	}
}

// A batch that is committed again changes nothing, and others go on after it.
func committedTwice(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	fillBatch(c, time.Now())
	b := c.commit()
	once := glance(t, c.store, view.everything)
	for range 3 {
		if err := c.store.Commit(t.Context(), b); err != nil {
			t.Fatalf("commit again: %v", err)
		}
	}
	same(t, "after the same batch again", glance(t, c.store, view.everything), once)
	fillBatch(c, time.Now())
	b = c.commit()
	twice := glance(t, c.store, view.everything)
	if err := c.store.Commit(t.Context(), b); err != nil {
		t.Fatalf("commit again: %v", err)
	}
	same(t, "after the same batch again", glance(t, c.store, view.everything), twice)
	if sums := total(twice); sums.Requests != 2 || sums.Cost != 10_000 {
		t.Errorf("two exchanges of 7000 nano-dollars each, corrected by 2000: %+v", sums)
	}
	c.leave()
}

func total(e everything) (s ledger.Sums) {
	for _, h := range e.Hours {
		s.Add(h)
	}
	return s
}

// A batch whose commit was interrupted is there or is not, and is written once however often it is tried again.
func outcomeUnknown(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	at := time.Now()
	const batches = 150
	interrupted := 0
	for i := range batches {
		fillBatch(c, at)
		c.batch.Notices[0].Period = int64(i)
		b := c.take()
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*10*time.Microsecond)
		err := c.store.Commit(ctx, b)
		cancel()
		if err != nil {
			interrupted++
			err = c.store.Commit(t.Context(), b)
		}
		if err != nil {
			t.Fatalf("batch %d: %v", b.Number, err)
		}
	}
	if interrupted == 0 {
		t.Error("no commit was interrupted")
	}
	c.leave()
	now := glance(t, reading(t, l), view.everything)
	if s := total(now); len(now.Began) != 2*batches || len(now.Ended) != batches || len(now.Notices) != batches || s.Requests != batches || s.Cost != 5000*batches || now.Refusals[0].N != 3*batches {
		t.Errorf("%d began, %d ended, %d notices, sums %+v, refused %+v; %d batches were written", len(now.Began), len(now.Ended), len(now.Notices), s, now.Refusals, batches)
	}
}

// reading opens a ledger to read, until the test ends.
func reading(t testing.TB, l Ledger) ledger.Store {
	t.Helper()
	s := l.Reader(t)
	t.Cleanup(func() { s.Close() })
	return s
}

// A batch that does not follow the last is refused: whoever wrote the last has the ledger now.
func notInOrder(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	defer c.leave()
	fillBatch(c, time.Now())
	first := c.commit()
	fillBatch(c, time.Now())
	c.commit()
	want := glance(t, c.store, view.everything)
	for _, number := range []int64{first.Number, c.number + 2, c.number - 2, 0, -1} {
		b := *first
		b.Number = number
		if err := c.store.Commit(t.Context(), &b); !errors.Is(err, ledger.ErrLocked) {
			t.Errorf("batch %d after %d: %v, want an error that matches ErrLocked", number, c.number, err)
		}
	}
	same(t, "after batches that were refused", glance(t, c.store, view.everything), want)
}

// What a writer's earlier life commits once its slot was taken anew is refused, and changes nothing.
func pastLife(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	fillBatch(c, time.Now())
	c.commit()
	fillBatch(c, time.Now())
	late := c.take()
	past, err := c.store.Resume(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if past.Slot != c.past.Slot {
		t.Fatalf("the store has slot %d, and after Resume slot %d", c.past.Slot, past.Slot)
	}
	want := glance(t, c.store, view.everything)
	for range 2 {
		if err := c.store.Commit(t.Context(), late); !errors.Is(err, ledger.ErrLocked) {
			t.Errorf("batch %d of the life before: %v, want an error that matches ErrLocked", late.Number, err)
		}
	}
	same(t, "after a batch of the life before", glance(t, c.store, view.everything), want)
	c.leave()
	c = hire(t, l)
	fillBatch(c, time.Now())
	c.commit()
	if err := c.store.Commit(t.Context(), late); !errors.Is(err, ledger.ErrLocked) {
		t.Errorf("batch %d of the life before: %v, want an error that matches ErrLocked", late.Number, err)
	}
	c.leave()
}
