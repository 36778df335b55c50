package ledgertest

import (
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Every field of every row is read back as it was written, from a ledger that was opened anew.
func everyField(t *testing.T, _ Harness, l Ledger) {
	at := time.Now().Add(-time.Minute)
	c := hire(t, l)
	begin := c.begin(full[ledger.Begin](1000), at)
	begin.Label = "label"
	want := ledger.Exchange{Begin: *begin}
	for step := range 3 {
		d := full[ledger.Draw](int64(2000 + 1000*step))
		d.Exchange, d.Step = begin.Exchange, step+1
		c.draw(d)
		want.Draws = append(want.Draws, *d)
	}
	c.commit()
	open := c.begin(call("key", "budget", 7), at)
	c.commit()
	reader := l.Reader(t)
	same(t, "unfinished", glance(t, reader, view.unfinished), []ledger.Exchange{want, {Begin: *open}})
	same(t, "found", glance(t, reader, func(v view) *ledger.Exchange { return v.find(begin.Exchange) }), &want)

	e := full[ledger.End](5000)
	e.Exchange = begin.Exchange
	want.End = c.end(e, at.Add(time.Second))
	r := full[ledger.Correction](6000)
	r.Exchange, r.Series, r.Model, r.Served, r.Label = begin.Exchange, begin.Series, begin.Model, e.Served, begin.Label
	c.correct(r, at.Add(2*time.Second))
	c.commit()
	c.leave()
	same(t, "found", glance(t, reader, func(v view) *ledger.Exchange { return v.find(begin.Exchange) }), &want)
	reader.Close()

	c = hire(t, l)
	defer c.leave()
	same(t, "unfinished, of a past life", c.past.Unfinished, []ledger.Exchange{{Begin: *open}})
	withoutDraws := want
	withoutDraws.Draws = nil
	same(t, "not rolled up, of a past life", c.past.Tail, []ledger.Exchange{withoutDraws})
	same(t, "corrections not rolled up, of a past life", c.past.Corrected, []ledger.Correction{*r})
	v := look(t, c.store)
	defer v.close()
	same(t, "ended", v.ended(ever.from, ever.to), []ledger.Exchange{withoutDraws})
	same(t, "began", v.began(ever.from, ever.to), []ledger.Exchange{withoutDraws, {Begin: *open}})
	same(t, "corrections", v.corrections(ever.from, ever.to), []ledger.Correction{*r})
	same(t, "found", v.find(begin.Exchange), &want)
}

// What is not there is not found.
func nothingFound(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	defer c.leave()
	b := c.begin(call("key", "budget", 7), time.Now())
	c.commit()
	for _, id := range []ledger.ID{0, 1, b.Exchange - 1, b.Exchange + 1} {
		if x := glance(t, c.store, func(v view) *ledger.Exchange { return v.find(id) }); x != nil {
			t.Errorf("find %v: %+v, want nothing", id, x)
		}
	}
}

// An empty ledger answers every question.
func empty(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	defer c.leave()
	same(t, "past", c.past, &ledger.Past{Slot: c.past.Slot, Batch: c.past.Batch, Last: c.past.Last})
	v := look(t, c.store)
	defer v.close()
	for _, q := range []ledger.HourQuery{apart, {From: ever.from, To: ever.to}, {}} {
		same(t, "hours", v.hours(q), map[ledger.Hour]ledger.Sums{})
	}
	same(t, "slots", v.slots(ever.from, ever.to), map[ledger.Slot]int64{})
	same(t, "spends", v.spends(ledger.Want{Budget: "b"}, ledger.Want{Budget: "b", Detail: ledger.ByRow}, ledger.Want{Budget: "c", Detail: ledger.BySlot}), make([][]spend, 3))
	same(t, "rows", append(v.ended(ever.from, ever.to), v.began(ever.from, ever.to)...), []ledger.Exchange{})
	same(t, "unfinished", v.unfinished(), []ledger.Exchange{})
	same(t, "corrections", v.corrections(ever.from, ever.to), []ledger.Correction{})
	same(t, "refusals", v.refusals(ever.from, ever.to), []ledger.Refusal{})
	same(t, "notices", v.notices(), []ledger.Notice{})
	if n := c.prune(time.Now(), 100); n != 0 || v.kept().After(time.Now().Add(-24*time.Hour)) {
		t.Errorf("%d dropped; rows are kept since %v", n, v.kept())
	}
}
