package ledgertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// The hourly sums are those of the rows, before they are rolled up and after, in parts and as a whole, with corrections.
func sumsOfRows(t *testing.T, _ Harness, l Ledger) {
	hour := time.Unix(ledger.HourOf(time.Now().Add(-5*time.Hour)), 0)
	c := hire(t, l)
	var rows []ledger.Exchange
	var corrected []ledger.Correction
	check := func(when string) {
		t.Helper()
		v := look(t, c.store)
		defer v.close()
		for i := range 1 << 4 {
			q := ledger.HourQuery{From: ever.from, To: ever.to, Hour: i&1 > 0, Series: i&2 > 0, Model: i&4 > 0, Label: i&8 > 0}
			same(t, fmt.Sprintf("%s, hours by %+v", when, q), v.hours(q), sumUp(q, rows, corrected))
		}
		for _, q := range []ledger.HourQuery{
			{From: hour, To: hour.Add(time.Hour)},
			{From: hour.Add(time.Second), To: hour.Add(2*time.Hour - time.Nanosecond)}, // it begins and ends with full hours
			{From: hour.Add(time.Hour), To: hour.Add(3 * time.Hour)},
			{From: hour, To: hour},
			{From: hour.Add(time.Hour), To: hour},
		} {
			same(t, fmt.Sprintf("%s, hours from %v to %v", when, q.From, q.To), v.hours(q), sumUp(q, rows, corrected))
		}
	}
	bases := []string{ledger.Nothing, ledger.Reported, ledger.Counted, ledger.Unreported, ledger.Distrusted}
	for i := range 24 {
		at := hour.Add(time.Duration(i%3) * time.Hour)
		if i%4 == 1 {
			at = at.Add(time.Hour - time.Microsecond)
		}
		b := full[ledger.Begin](int64(1000 * i))
		b.Series.Key, b.Model, b.Label, b.Retry = fmt.Sprint("key", i%2), fmt.Sprint("model", i%3), []string{"", "label"}[i%2], i%3
		c.begin(b, at)
		e := full[ledger.End](int64(1000*i + 500))
		e.Exchange, e.Basis, e.Served = b.Exchange, bases[i%len(bases)], []string{"", "served"}[i/2%2]
		c.end(e, at.Add(time.Minute))
		rows = append(rows, ledger.Exchange{Begin: *b, End: e})
		if i%2 == 1 {
			r := full[ledger.Correction](int64(1000*i + 700))
			r.Exchange, r.Series, r.Model, r.Served, r.Label = b.Exchange, b.Series, b.Model, e.Served, b.Label
			r.Was, r.Basis = e.Basis, bases[(i+1)%len(bases)]
			r.Usage.Output, r.Cost = -r.Usage.Output, -r.Cost
			c.correct(r, at.Add(time.Minute))
			corrected = append(corrected, *r)
		}
		open := c.begin(call("key0", "budget", 1), at) // nothing is known of it yet
		defer delete(c.open, open.Exchange)
		c.commit()
		check("in the rows")
		if i%5 == 3 {
			c.rollUp()
			check("rolled up")
		}
	}
	c.leave()
	c = hire(t, l)
	check("opened anew")
	for _, x := range c.past.Unfinished {
		rows = append(rows, ledger.Exchange{Begin: x.Begin, End: x.Crash()})
	}
	c.rollUp()
	check("unfinished ones charged")
	c.leave()
}

// sumUp adds up what the rows come to, one by one.
func sumUp(q ledger.HourQuery, rows []ledger.Exchange, corrected []ledger.Correction) map[ledger.Hour]ledger.Sums {
	all := map[ledger.Hour]ledger.Sums{}
	from, to := q.From.Truncate(time.Hour).Unix(), q.To.Truncate(time.Hour).Unix()
	add := func(h ledger.Hour, s ledger.Sums) {
		if h.Start >= from && h.Start < to {
			sums := all[q.Only(h)]
			sums.Add(s)
			all[q.Only(h)] = sums
		}
	}
	for i := range rows {
		b, e := &rows[i].Begin, rows[i].End
		s := ledger.Sums{Requests: 1}
		if b.Retry > 0 {
			s.Retries = 1
		}
		based(&s, e.Basis, 1)
		u := e.Usage
		s.Add(ledger.Sums{
			Input: u.Input, CachedInput: u.CachedInput, CacheWrite: u.CacheWrite, Output: u.Output, Reasoning: u.Reasoning,
			Images: u.Images, Milliseconds: u.Milliseconds, Characters: u.Characters, Cost: e.Cost,
		})
		add(ledger.Hour{Start: b.Exchange.Time().Truncate(time.Hour).Unix(), Series: b.Series, Model: b.Model, Served: e.Served, Label: b.Label}, s)
	}
	for _, c := range corrected {
		var s ledger.Sums
		based(&s, c.Was, -1)
		based(&s, c.Basis, 1)
		u := c.Usage
		s.Add(ledger.Sums{
			Input: u.Input, CachedInput: u.CachedInput, CacheWrite: u.CacheWrite, Output: u.Output, Reasoning: u.Reasoning,
			Images: u.Images, Milliseconds: u.Milliseconds, Characters: u.Characters, Cost: c.Cost,
		})
		add(ledger.Hour{Start: c.Exchange.Time().Truncate(time.Hour).Unix(), Series: c.Series, Model: c.Model, Served: c.Served, Label: c.Label}, s)
	}
	return all
}

func based(s *ledger.Sums, basis string, n int64) {
	switch basis {
	case ledger.Nothing:
		s.Failed += n
	case ledger.Counted:
		s.Counted += n
	case ledger.Unreported, ledger.Distrusted:
		s.Unreported += n
	}
}

// A correction counts though its exchange's rows are dropped, before it is rolled up and after, and after a crash.
func correctedAfterwards(t *testing.T, _ Harness, l Ledger) {
	at := time.Now().Add(-48 * time.Hour)
	c := hire(t, l)
	b := c.begin(call("key", "budget", 10), at)
	e := c.end(answer(b, 9, 0), at)
	c.rollUp()
	if n := c.prune(time.Now().Add(-time.Hour), 10); n != 1 {
		t.Fatalf("%d dropped, want 1", n)
	}
	r := c.correct(amend(b, e, -4), time.Now())
	c.commit()
	check := func(when string, store ledger.Store) {
		t.Helper()
		v := look(t, store)
		defer v.close()
		want := ledger.Sums{Requests: 1, Input: 5, Cost: 5000}
		same(t, when+", sums", v.hours(ledger.HourQuery{From: ever.from, To: ever.to, Series: true}), map[ledger.Hour]ledger.Sums{{Series: b.Series}: want})
		same(t, when+", charged", v.spent(ledger.Want{Budget: "budget"}), []int64{5})
	}
	check("not rolled up", c.store)
	same(t, "corrections", glance(t, c.store, func(v view) []ledger.Correction { return v.corrections(ever.from, ever.to) }), []ledger.Correction{*r})
	l.Crash(t, c.store)
	check("crashed", reading(t, l))
	c = hire(t, l)
	same(t, "corrections of a past life", c.past.Corrected, []ledger.Correction{*r})
	c.rollUp()
	check("rolled up", c.store)
	c.prune(time.Now().Add(time.Hour), 10)
	check("pruned", c.store)
	same(t, "corrections", glance(t, c.store, func(v view) []ledger.Correction { return v.corrections(ever.from, ever.to) }), []ledger.Correction{})
	c.leave()
}
