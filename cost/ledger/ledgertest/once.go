package ledgertest

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// A notice is kept once, whoever sends it and however often.
func noticesOnce(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	list := []ledger.Notice{
		{Budget: "budget", Period: 100, At: "80%"}, {Budget: "budget", Period: 100, At: "90%"}, {Budget: "budget", Period: 200, At: "80%"}, {Budget: "another", Period: 0, At: "80%"},
	}
	c.batch.Notices = slices.Concat(list[:2], list[:2])
	c.commit()
	c.batch.Notices = list
	c.commit()
	l.Crash(t, c.store)
	c = hire(t, l)
	c.batch.Notices = list[2:]
	c.commit()
	got := glance(t, c.store, view.notices)
	order := func(a, b ledger.Notice) int {
		return cmp.Or(cmp.Compare(a.Budget, b.Budget), cmp.Compare(a.Period, b.Period), cmp.Compare(a.At, b.At))
	}
	slices.SortFunc(got, order)
	slices.SortFunc(list, order)
	same(t, "notices", got, list)
	c.leave()
}

// Notices of long ago are dropped, sooner or later; those without an end, or of a period that ended lately, never.
func noticesGo(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	defer c.leave()
	now := time.Now()
	recent := []ledger.Notice{
		{Budget: "budget", Period: now.Add(-31 * 24 * time.Hour).Unix(), At: "80%"}, {Budget: "budget", Period: now.Add(time.Hour).Unix(), At: "80%"}, {Budget: "total", At: "80%"},
	}
	c.batch.Notices = append(slices.Clone(recent), ledger.Notice{Budget: "budget", Period: now.Add(-366 * 24 * time.Hour).Unix(), At: "80%"})
	c.commit()
	c.prune(now, 10)
	same(t, "notices", glance(t, c.store, view.notices), recent)
}

// Refusals of one hour add up.
func refusalsAddUp(t *testing.T, _ Harness, l Ledger) {
	hour := ledger.HourOf(time.Now())
	c := hire(t, l)
	defer c.leave()
	want := map[ledger.Refusal]int64{}
	for i := range 40 {
		r := ledger.Refusal{Hour: hour - int64(3600*(i%3)), Key: []string{"key", "other"}[i%2], Model: []string{"model", ""}[i/2%2], Code: []string{"rate_limit_exceeded", "insufficient_quota"}[i/4%2]}
		want[r] += int64(i)
		r.N = int64(i)
		c.batch.Refusals = append(c.batch.Refusals, r)
		if i%5 == 0 {
			c.commit()
		}
	}
	c.commit()
	v := look(t, c.store)
	defer v.close()
	check := func(from, to time.Time) {
		t.Helper()
		got, in := map[ledger.Refusal]int64{}, map[ledger.Refusal]int64{}
		for _, r := range v.refusals(from, to) {
			n := r.N
			r.N = 0
			got[r] += n
		}
		for r, n := range want {
			if r.Hour >= ledger.HourOf(from) && r.Hour < ledger.HourOf(to) {
				in[r] = n
			}
		}
		same(t, "refusals", got, in)
	}
	at := time.Unix(hour, 0)
	check(ever.from, ever.to)
	check(at, at.Add(time.Hour))
	check(at.Add(-2*time.Hour), at)
	check(at.Add(-time.Minute), at.Add(time.Minute)) // the hour before
}

// Rows are read in their order, from an instant on and up to another.
func orderAndBounds(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	defer c.leave()
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	var begins []*ledger.Begin
	for i := range 10 {
		begins = append(begins, c.begin(call("key", "budget", 1), at.Add(time.Duration(i)*time.Second)))
	}
	var ended, corrected []ledger.ID
	for _, i := range []int{3, 1, 4, 5, 9, 2, 6} { // 0, 7 and 8 go on
		e := c.end(answer(begins[i], 1, 0), at.Add(time.Duration(20+len(ended))*time.Second))
		ended = append(ended, begins[i].Exchange)
		if len(ended)%2 == 0 {
			corrected = append(corrected, c.correct(amend(begins[i], e, 1), at.Add(time.Duration(20+len(ended))*time.Second)).Exchange)
		}
	}
	c.commit()
	var began []ledger.ID
	for _, b := range begins {
		began = append(began, b.Exchange)
	}
	v := look(t, c.store)
	defer v.close()
	second := func(n int) time.Time { return at.Add(time.Duration(n) * time.Second) }
	same(t, "began", ids(v.began(ever.from, ever.to)), began)
	same(t, "began since long ago", ids(v.began(time.Time{}, at.Add(1000*24*time.Hour))), began)
	same(t, "began in an interval", ids(v.began(second(3), second(6))), began[3:6])
	same(t, "began in a longer one", ids(v.began(second(3), second(6).Add(time.Microsecond))), began[3:7])
	same(t, "began in an empty one", v.began(second(3), second(3)), []ledger.Exchange{})
	same(t, "began after all", v.began(second(100), ever.to), []ledger.Exchange{})
	same(t, "ended", ids(v.ended(ever.from, ever.to)), ended)
	same(t, "ended in an interval", ids(v.ended(second(21), second(24))), ended[1:4])
	same(t, "ended by the end of time", ids(v.ended(second(21), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))), ended[1:])
	var got []ledger.ID
	for _, r := range v.corrections(ever.from, ever.to) {
		got = append(got, r.Exchange)
	}
	same(t, "corrections", got, corrected)
	one := v.corrections(second(5), second(6))
	if len(one) != 1 || one[0].Exchange != begins[5].Exchange {
		t.Errorf("corrections of what began in the sixth second: %+v", one)
	}
}
