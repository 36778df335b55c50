package ledgertest

import (
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Exchanges that a crash leaves unfinished are charged at what they had reserved and drawn, exactly once, however often the
// process crashes before, while and after it charges them.
func crashed(t *testing.T, h Harness, l Ledger) {
	now := time.Now()
	at := now.Add(-time.Hour)
	c := hire(t, l)
	watched := call("key", "budget", 100)
	watched.Charges = append(watched.Charges, ledger.Charge{Budget: tokens("watching"), Late: 9})
	plain := c.begin(watched, at)
	drawn := c.begin(call("key", "budget", 1000), at)
	for step := range 3 {
		c.draw(&ledger.Draw{
			Exchange: drawn.Exchange, Step: step + 1, More: cost.Usage{Output: 10}, Reserved: 500,
			Charges: []ledger.Charge{{Budget: tokens("budget"), Late: 10}, {Budget: tokens("other"), Late: 1}},
		})
	}
	done := c.begin(call("key", "budget", 10_000), at)
	c.end(answer(done, 7_000, 0), at)
	c.commit()
	c.begin(call("key", "budget", 1_000_000), at) // nothing of it is durable: it is as if it had never been
	want := []int64{8130, 3, 9, 0, 0}             // what was reserved where it began, in whatever period it crashes and is ended
	lately := now.Add(-30 * time.Minute)
	spent := func() []int64 {
		return glance(t, reading(t, l), func(v view) []int64 {
			return v.spent(
				ledger.Want{Budget: "budget"}, ledger.Want{Budget: "other"}, ledger.Want{Budget: "watching"},
				ledger.Want{Budget: "watching", Since: lately, Detail: ledger.BySlot}, ledger.Want{Budget: "watching", Since: lately, Detail: ledger.ByRow},
			)
		})
	}
	same(t, "charged before the crash", spent(), want)
	l.Crash(t, c.store)
	same(t, "charged after the crash", spent(), want)

	for range 3 { // it crashes before it commits anything
		c = hireAt(t, l, now)
		same(t, "unfinished", ids(c.past.Unfinished), []ledger.ID{plain.Exchange, drawn.Exchange})
		l.Crash(t, c.store)
		same(t, "charged", spent(), want)
	}
	c = hireAt(t, l, now)
	c.commit()
	same(t, "charged by end rows", spent(), want)
	l.Crash(t, c.store) // it crashes before it rolls them up
	for range 2 {
		c = hireAt(t, l, now)
		same(t, "unfinished", c.past.Unfinished, []ledger.Exchange{})
		l.Crash(t, c.store)
	}
	c = hireAt(t, l, now)
	c.rollUp()
	l.Crash(t, c.store)
	c = hire(t, l)
	defer c.leave()
	if len(c.past.Unfinished)+len(c.past.Tail)+len(c.past.Corrected) > 0 {
		t.Errorf("after everything was rolled up, this is left: %+v", c.past)
	}
	same(t, "charged, rolled up", spent(), want)
	v := look(t, c.store)
	defer v.close()
	sums := v.hours(ledger.HourQuery{From: ever.from, To: ever.to})[ledger.Hour{}]
	same(t, "sums", sums, ledger.Sums{Requests: 3, Unreported: 2, Input: 8100, Output: 30, Cost: 7_000_000 + 1_100_000 + 1500})
	x := v.find(drawn.Exchange)
	same(t, "end row", [3]any{x.End.Ending, x.End.Basis, x.End.Charges},
		[3]any{ledger.Crashed, ledger.Unreported, []ledger.Charge{{Budget: tokens("budget"), N: 1000, Late: 30}, {Budget: tokens("other"), Late: 3}}})
}

// An exchange is found though it began long before others that have ended, and though its begin row came after theirs.
func oldestOpen(t *testing.T, _ Harness, l Ledger) {
	at := time.Now().Add(-time.Hour)
	c := hire(t, l)
	early := call("key", "budget", 1)
	early.Exchange = c.id(at)
	for range 50 {
		b := c.begin(call("key", "budget", 2), at.Add(time.Minute))
		c.end(answer(b, 2, 0), at.Add(time.Minute))
		c.commit()
	}
	c.begin(early, at)
	c.commit()
	last := c.begin(call("key", "budget", 3), at.Add(2*time.Minute))
	c.rollUp()
	l.Crash(t, c.store)
	c = hire(t, l)
	defer c.leave()
	same(t, "unfinished", ids(c.past.Unfinished), []ledger.ID{early.Exchange, last.Exchange})
	if c.past.Last < last.Exchange {
		t.Errorf("the largest ID is said to be %v, and %v is there", c.past.Last, last.Exchange)
	}
}

// What a writer says is in the sums stays there though the clock is set back: rows of its next life come after.
func clockSetBack(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	b := c.begin(call("key", "budget", 7), time.Now())
	c.end(answer(b, 7, 0), time.Now())
	c.roll()
	c.batch.Rolled.Upto = c.id(time.Now().Add(time.Hour)) // IDs were made whose rows never came
	c.commit()
	upto := c.last
	l.Crash(t, c.store)
	c = hire(t, l)
	if c.past.Last < upto {
		t.Errorf("the largest ID is said to be %v, and rows up to %v are said to be in the sums", c.past.Last, upto)
	}
	c.commit() // what is to be adopted, is
	b = c.begin(call("key", "budget", 5), time.Now())
	c.end(answer(b, 5, 0), time.Now())
	c.commit()
	l.Crash(t, c.store)
	c = hire(t, l)
	defer c.leave()
	if len(c.past.Tail) != 1 {
		t.Errorf("not rolled up: %+v, want one exchange", c.past.Tail)
	}
	same(t, "charged", glance(t, c.store, func(v view) []int64 { return v.spent(ledger.Want{Budget: "budget"}) }), []int64{12})
}

// A batch that was lost with its writer is told from one that is there, though its exchanges have been ended since: by the next
// process that shares the ledger, as soon as it starts, or else by the writer's next life.
func lostBatch(t *testing.T, h Harness, l Ledger) {
	at := time.Now().Add(-time.Minute)
	var gone *clerk // leaves the slot that the next process takes, and so the other's to be adopted
	if h.Writers > 1 {
		gone = hire(t, l)
	}
	c := hire(t, l)
	done, open := c.begin(call("key", "budget", 10), at), c.begin(call("key", "budget", 100), at)
	c.commit()
	c.end(answer(done, 7, 0), at)
	kept := c.commit()
	c.end(answer(open, 50, 0), at)
	lost := c.take()
	for _, dead := range []*clerk{gone, c} {
		if dead != nil {
			l.Crash(t, dead.store)
		}
	}
	next := hire(t, l)
	defer next.leave()
	next.commit()
	same(t, "there, of one that was committed and one that was lost",
		[]bool{isThere(t, next.store, kept), isThere(t, next.store, lost)}, []bool{true, false})
	v := look(t, next.store)
	defer v.close()
	same(t, "ended", v.find(open.Exchange).End.Ending, ledger.Crashed)
	same(t, "charged", v.spent(ledger.Want{Budget: "budget"}), []int64{107})
}
