package ledgertest

import (
	"maps"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// past is a number of charges to one budget, each with a decimal place of its own.
type past struct {
	slot, recent time.Time // the beginning of a slot three hours ago; an instant half an hour ago
	late         time.Time // after recent
}

const (
	atBorder    int64 = 1              // at slot
	lastMoment  int64 = 10             // a microsecond before its end
	before      int64 = 100            // a microsecond before slot
	beforeLate  int64 = 1_000          // of the same exchange, at its end: a second into slot
	recently    int64 = 10_000         // at recent
	recentLate  int64 = 100_000        // of the same exchange, at late
	openOld     int64 = 1_000_000      // unfinished, in the middle of slot
	openDrawn   int64 = 10_000_000     // drawn by it
	openRecent  int64 = 100_000_000    // unfinished, a minute after recent
	amendOld    int64 = 2_000_000_000  // correction of the one at the border
	amendRecent int64 = 30_000_000_000 // correction of the one at recent
)

const ofSlot = atBorder + lastMoment + beforeLate + amendOld // what is in slot and has ended

// spendInThePast writes all that to "budget", and something to another.
func spendInThePast(c *clerk) past {
	now := time.Now()
	p := past{
		slot: time.Unix(ledger.SlotOf(now.Add(-3*time.Hour)), 0), recent: now.Add(-30 * time.Minute).Truncate(time.Microsecond),
		late: now.Add(-10 * time.Minute).Truncate(time.Microsecond),
	}
	early := c.begin(call("key", "budget", before), p.slot.Add(-time.Microsecond))
	border := c.begin(call("key", "budget", 2*atBorder), p.slot)
	c.end(answer(early, before, beforeLate), p.slot.Add(time.Second))
	old := c.end(answer(border, atBorder, 0), p.slot.Add(time.Minute))
	unfinished := c.begin(call("key", "budget", openOld), p.slot.Add(7*time.Minute))
	c.draw(&ledger.Draw{Exchange: unfinished.Exchange, Step: 1, Charges: []ledger.Charge{{Budget: tokens("budget"), N: openDrawn}}})
	last := c.begin(call("key", "budget", lastMoment), p.slot.Add(ledger.SlotLength-time.Microsecond))
	c.end(answer(last, lastMoment, 0), p.slot.Add(time.Hour))
	recent := c.begin(call("key", "budget", recently), p.recent)
	c.begin(call("key", "budget", openRecent), p.recent.Add(time.Minute))
	c.begin(call("key", "another", 5), p.recent.Add(time.Minute))
	young := c.end(answer(recent, recently, recentLate), p.late)
	c.correct(amend(border, old, amendOld), now)
	c.correct(amend(recent, young, amendRecent), now)
	return p
}

// slotEnd is the end of the slot of an instant.
func slotEnd(at time.Time) time.Time { return at.Truncate(ledger.SlotLength).Add(ledger.SlotLength) }

// dated adds up what was spent at each instant.
func dated(list []spend) map[int64]int64 {
	all := map[int64]int64{}
	for _, s := range list {
		all[s.At.UnixMicro()] += s.N
	}
	return all
}

// on is what dated makes of pairs of an instant and an amount.
func on(pairs ...spend) map[int64]int64 { return dated(pairs) }

// What budgets were charged is dated to where it counts, in the detail that is asked for, before it is rolled up and after.
func datesOfSpends(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	defer c.leave()
	p := spendInThePast(c)
	const open, recent = openOld + openDrawn + openRecent, recently + recentLate + amendRecent
	const all = ofSlot + before + open + recent
	want := func(since time.Time, detail ledger.Detail) ledger.Want {
		return ledger.Want{Budget: "budget", Since: since, Detail: detail}
	}
	next := p.slot.Add(ledger.SlotLength)
	check := func(when string) {
		t.Helper()
		v := look(t, c.store)
		defer v.close()
		for _, one := range []struct {
			name string
			want ledger.Want
			is   map[int64]int64
		}{
			{"sum of all", want(time.Time{}, ledger.Sum), on(spend{time.Time{}, all})},
			{"sum since before", want(p.slot.Add(-time.Hour), ledger.Sum), on(spend{p.slot.Add(-time.Hour), all})},
			{"sum since the border", want(p.slot, ledger.Sum), on(spend{p.slot, all - before})},
			{"sum since the middle of a slot, which counts whole", want(p.slot.Add(10*time.Minute), ledger.Sum), on(spend{p.slot.Add(10 * time.Minute), all - before})},
			{"sum since the next border", want(next, ledger.Sum), on(spend{next, openRecent + recent})},
			{"sum since now", want(time.Now().Add(time.Hour), ledger.Sum), on()},
			{
				"by slot", want(p.slot, ledger.BySlot),
				on(spend{next, ofSlot + openOld + openDrawn}, spend{slotEnd(p.recent), recently + amendRecent}, spend{slotEnd(p.recent.Add(time.Minute)), openRecent}, spend{slotEnd(p.late), recentLate}),
			},
			{
				"all by slot", want(time.Time{}, ledger.BySlot),
				on(spend{p.slot, before}, spend{next, ofSlot + openOld + openDrawn}, spend{slotEnd(p.recent), recently + amendRecent}, spend{slotEnd(p.recent.Add(time.Minute)), openRecent}, spend{slotEnd(p.late), recentLate}),
			},
			{
				"by row", want(p.slot, ledger.ByRow),
				on(spend{next, ofSlot}, spend{p.slot.Add(7 * time.Minute), openOld + openDrawn}, spend{p.recent, recently + amendRecent}, spend{p.recent.Add(time.Minute), openRecent}, spend{p.late, recentLate}),
			},
			{
				"by row, since an instant that one was charged at", want(p.recent, ledger.ByRow),
				on(spend{p.recent, recently + amendRecent}, spend{p.recent.Add(time.Minute), openRecent}, spend{p.late, recentLate}),
			},
			{
				"by row, since an instant later", want(p.recent.Add(time.Microsecond), ledger.ByRow),
				on(spend{p.recent.Add(time.Minute), openRecent}, spend{p.late, recentLate}),
			},
			{"of an unknown budget", ledger.Want{Budget: "nobody's", Detail: ledger.ByRow}, on()},
			{"of another budget", ledger.Want{Budget: "another"}, on(spend{time.Time{}, 5})},
		} {
			same(t, when+": "+one.name, dated(v.spends(one.want)[0]), one.is)
		}
		several := v.spends(want(p.slot, ledger.ByRow), ledger.Want{Budget: "another"}, want(next, ledger.Sum), want(p.slot, ledger.BySlot))
		sums := make([]int64, len(several))
		for i, list := range several {
			for _, s := range list {
				sums[i] += s.N
			}
		}
		same(t, when+": several at once", sums, []int64{all - before, 5, openRecent + recent, all - before})
	}
	c.commit()
	check("in the rows")
	c.rollUp()
	check("rolled up")
}

// Slots are the sums of what has ended, corrections included.
func sumsOfSlots(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	defer c.leave()
	p := spendInThePast(c)
	of := func(at time.Time) ledger.Slot {
		return ledger.Slot{Budget: tokens("budget"), Start: ledger.SlotOf(at)}
	}
	all := map[ledger.Slot]int64{of(p.slot.Add(-1)): before, of(p.slot): ofSlot}
	all[of(p.recent)] += recently + amendRecent
	all[of(p.late)] += recentLate
	old := maps.Clone(all)
	delete(old, of(p.recent))
	delete(old, of(p.late))
	check := func(when string) {
		t.Helper()
		v := look(t, c.store)
		defer v.close()
		same(t, when+": all", v.slots(ever.from, ever.to), all)
		same(t, when+": one", v.slots(p.slot, p.slot.Add(ledger.SlotLength)), map[ledger.Slot]int64{of(p.slot): ofSlot})
		same(t, when+": from its middle on, and up to the middle of the next", v.slots(p.slot.Add(time.Minute), p.slot.Add(ledger.SlotLength+time.Minute)),
			map[ledger.Slot]int64{of(p.slot): ofSlot})
		same(t, when+": up to an hour after", v.slots(ever.from, p.slot.Add(time.Hour)), old)
		same(t, when+": none", v.slots(p.slot, p.slot), map[ledger.Slot]int64{})
	}
	c.commit()
	check("in the rows")
	c.rollUp()
	check("rolled up")
	c.prune(time.Now(), 100)
	check("pruned")
}
