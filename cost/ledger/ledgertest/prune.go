package ledgertest

import (
	"slices"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// pruned is what pruning must not change.
type pruned struct {
	Hours      map[ledger.Hour]ledger.Sums
	Slots      map[ledger.Slot]int64
	Spent      []int64
	Unfinished []ledger.Exchange
	Refusals   []ledger.Refusal
	Notices    []ledger.Notice
}

func lasting(v view) pruned {
	v.t.Helper()
	var wants []ledger.Want
	for _, detail := range []ledger.Detail{ledger.Sum, ledger.ByRow, ledger.BySlot} {
		for _, since := range []time.Time{{}, time.Now().Add(-24 * time.Hour).Truncate(ledger.SlotLength)} {
			wants = append(wants, ledger.Want{Budget: "budget", Since: since, Detail: detail})
		}
	}
	return pruned{v.hours(apart), v.slots(ever.from, ever.to), v.spent(wants...), v.unfinished(), v.refusals(ever.from, ever.to), v.notices()}
}

// history writes 40 exchanges that have ended, two for each of the last 20 hours, one of them corrected and one with draws,
// and one that goes on since the first hour.
func history(c *clerk) (began []ledger.ID) {
	start := time.Now().Add(-20 * time.Hour)
	open := c.begin(call("key", "budget", 3), start)
	c.draw(&ledger.Draw{Exchange: open.Exchange, Step: 1, Charges: []ledger.Charge{{Budget: tokens("budget"), N: 1}}})
	for i := range 20 {
		at := start.Add(time.Duration(i)*time.Hour + time.Minute)
		b := c.begin(call("key", "budget", 10), at)
		e := c.end(answer(b, 9, 2), at.Add(time.Second))
		c.correct(amend(b, e, -1), at.Add(2*time.Second))
		d := c.begin(call("key", "budget", 100), at.Add(3*time.Second))
		c.draw(&ledger.Draw{Exchange: d.Exchange, Step: 1, More: cost.Usage{Output: 5}, Charges: []ledger.Charge{{Budget: tokens("budget"), N: 5}}})
		c.end(answer(d, 103, 0), at.Add(4*time.Second))
		began = append(began, b.Exchange, d.Exchange)
	}
	c.batch.Refusals = []ledger.Refusal{{Hour: ledger.HourOf(start), Key: "key", Code: "code", N: 1}}
	c.batch.Notices = []ledger.Notice{{Budget: "budget", At: "80%"}}
	return began
}

// Pruning drops the oldest exchanges that are in the sums, with their draws and corrections, and no sum changes.
func prune(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	defer c.leave()
	all := history(c)
	c.commit()
	want := glance(t, c.store, lasting)
	check := func(when string, dropped int) {
		t.Helper()
		v := look(t, c.store)
		defer v.close()
		same(t, when, lasting(v), want)
		rows := v.ended(ever.from, ever.to)
		same(t, when+": rows", ids(rows), all[dropped:])
		kept := v.kept()
		for _, x := range rows {
			if x.End.Seq.Time().Before(kept) {
				t.Errorf("%s: rows are said to be kept since %v, and those of %v are there", when, kept, x.End.Seq.Time())
			}
		}
		if dropped > 0 {
			if gone := all[dropped-1].Time().Add(time.Second); !kept.After(gone) {
				t.Errorf("%s: rows are said to be kept since %v, and those of %v are gone", when, kept, gone)
			}
		}
		for i, id := range all {
			x := v.find(id)
			if (x == nil) != (i < dropped) {
				t.Errorf("%s: %v is the exchange number %d, and found: %+v", when, id, i, x)
			}
			if x != nil && len(x.Draws) != i%2 {
				t.Errorf("%s: draws of exchange number %d: %+v", when, i, x.Draws)
			}
		}
		if got := len(v.corrections(ever.from, ever.to)); got != max(0, 20-(dropped+1)/2) {
			t.Errorf("%s: %d corrections are left", when, got)
		}
		if x := v.find(want.Unfinished[0].Begin.Exchange); x == nil || len(x.Draws) != 1 {
			t.Errorf("%s: the one that goes on: %+v", when, x)
		}
	}
	drop := func(before time.Time, most, want int) {
		t.Helper()
		if n := c.prune(before, most); n != want {
			t.Errorf("%d dropped that ended before %v, %d at most; want %d", n, before, most, want)
		}
	}
	now := time.Now()
	drop(now, 100, 0)
	check("not rolled up", 0)
	c.rollUp()
	check("rolled up", 0)
	drop(now.Add(-100*time.Hour), 100, 0)
	drop(now.Add(-20*time.Hour), 100, 0)
	drop(now, 0, 0)
	drop(now, 3, 3)
	check("three dropped", 3)
	end := all[8].Time().Add(time.Second) // the instant at which number 8 ended
	drop(end, 100, 5)
	check("those before an instant dropped", 8)
	drop(end.Add(time.Microsecond), 100, 1)
	check("those at that instant dropped", 9)
	b := c.begin(call("key", "budget", 1000), now)
	c.end(answer(b, 1000, 0), b.Exchange.Time().Add(time.Second))
	all = append(all, b.Exchange)
	c.commit()
	want = glance(t, c.store, lasting)
	drop(now.Add(time.Hour), 1000, 31)
	check("all but one that is not rolled up", 40)
	c.rollUp()
	drop(now.Add(time.Hour), 1000, 1)
	check("all", 41)
	drop(now.Add(time.Hour), 1000, 0)
	check("all", 41)
}

// An exchange stays as long as a correction of it is not rolled up; those that ended later wait for it.
func pruneCorrected(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	defer c.leave()
	at := time.Now().Add(-time.Hour)
	var begins []*ledger.Begin
	var ends []*ledger.End
	for i := range 6 {
		b := c.begin(call("key", "budget", 10), at.Add(time.Duration(i)*time.Second))
		begins, ends = append(begins, b), append(ends, c.end(answer(b, 10, 0), at))
	}
	c.rollUp()
	c.correct(amend(begins[3], ends[3], 5), time.Now())
	c.commit()
	want := glance(t, c.store, lasting)
	if n := c.prune(time.Now(), 100); n > 3 {
		t.Errorf("%d dropped: the fourth has a correction that is not in the sums", n)
	}
	same(t, "with a correction that is not rolled up", glance(t, c.store, lasting), want)
	c.rollUp()
	c.prune(time.Now(), 100)
	same(t, "all dropped", glance(t, c.store, func(v view) []ledger.Exchange { return v.ended(ever.from, ever.to) }), []ledger.Exchange{})
	same(t, "all rolled up", glance(t, c.store, lasting), want)
}

// Where the rows of the last hour are dropped, what they were charged is told by slot.
func pruneRecent(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	defer c.leave()
	p := spendInThePast(c)
	c.rollUp()
	wants := []ledger.Want{
		{Budget: "budget", Detail: ledger.ByRow},
		{Budget: "budget", Since: p.slot, Detail: ledger.ByRow},
		{Budget: "budget", Since: p.recent.Truncate(ledger.SlotLength), Detail: ledger.ByRow},
		{Budget: "budget", Since: p.late.Truncate(ledger.SlotLength), Detail: ledger.ByRow},
	}
	want := glance(t, c.store, func(v view) []int64 { return v.spent(wants...) })
	for left := 4; left > 0; left-- {
		if n := c.prune(time.Now().Add(time.Hour), 1); n != 1 {
			t.Fatalf("%d dropped, want 1", n)
		}
		same(t, "spent", glance(t, c.store, func(v view) []int64 { return v.spent(wants...) }), want)
	}
}

// Slots that are older than any period are summed up, whether or not there are exchanges to drop.
func compact(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	defer c.leave()
	const day = 24 * time.Hour
	start := time.Now().Add(-ledger.SlotsKept - 30*day)
	for i := range 130 {
		at := start.Add(time.Duration(i) * day)
		for _, name := range []string{"budget", "another"} {
			b := c.begin(call("key", name, int64(1+i)), at)
			c.end(answer(b, int64(1+i), 0), at)
		}
	}
	c.rollUp()
	since := time.Now().Add(-ledger.SlotsKept + day)
	wants := []ledger.Want{{Budget: "budget"}, {Budget: "another"}, {Budget: "budget", Since: since}, {Budget: "another", Since: since, Detail: ledger.BySlot}}
	want := glance(t, c.store, func(v view) []int64 { return v.spent(wants...) })
	young := glance(t, c.store, func(v view) map[ledger.Slot]int64 { return v.slots(since, ever.to) })
	slots := func() (all []int64) {
		glance(t, c.store, func(v view) any {
			v.must("slots", v.s.Slots(t.Context(), time.Time{}, ever.to, func(s ledger.Slot, _ int64) error {
				if s.Budget == tokens("budget") {
					all = append(all, s.Start)
				}
				return nil
			}))
			return nil
		})
		slices.Sort(all)
		return all
	}
	if n := len(slots()); n != 130 {
		t.Fatalf("%d slots, want 130", n)
	}
	check := func(when string) {
		t.Helper()
		if all := slots(); len(all) != 101 || all[0] != 0 || all[1] < ledger.SlotOf(time.Now().Add(-ledger.SlotsKept)) {
			t.Errorf("%s: %d slots, from %v on; want one of all that is older than slots are kept, at 0, and 100 more", when, len(all), all[:min(3, len(all))])
		}
		same(t, when+": spent", glance(t, c.store, func(v view) []int64 { return v.spent(wants...) }), want)
		same(t, when+": slots that are not old", glance(t, c.store, func(v view) map[ledger.Slot]int64 { return v.slots(since, ever.to) }), young)
	}
	if n := c.prune(start.Add(time.Hour), 100); n != 2 {
		t.Fatalf("%d dropped, want 2", n)
	}
	check("with a few to drop")

	b := call("key", "budget", 5) // late, of a writer that was not heard of for long
	b.Exchange = ledger.At(start.Add(36*time.Hour)) + ledger.ID(c.past.Slot)
	c.begin(b, start)
	c.end(answer(b, 5, 0), time.Now())
	want[0] += 5
	c.rollUp()
	same(t, "spent", glance(t, c.store, func(v view) []int64 { return v.spent(wants...) }), want)
	if n := c.prune(start.Add(time.Hour), 100); n != 0 {
		t.Fatalf("%d dropped, want 0", n)
	}
	check("with one that is late")
}
