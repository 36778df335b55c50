package ledgertest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// view reads a snapshot, and fails the test where it cannot.
type view struct {
	t testing.TB
	s ledger.Snapshot
}

// look takes a snapshot. The test closes it, or its end does.
func look(t testing.TB, s ledger.Store) view {
	t.Helper()
	snapshot, err := s.Snapshot(context.WithoutCancel(t.Context()))
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	return view{t, snapshot}
}

// glance reads a snapshot and closes it.
func glance[T any](t testing.TB, s ledger.Store, read func(view) T) T {
	t.Helper()
	v := look(t, s)
	defer v.close()
	return read(v)
}

func (v view) close() {
	v.t.Helper()
	if err := v.s.Close(); err != nil {
		v.t.Errorf("close snapshot: %v", err)
	}
}

func (v view) must(what string, err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatalf("%s: %v", what, err)
	}
}

// ever is an interval that all instants of a story are in.
var ever = struct{ from, to time.Time }{time.Unix(3600, 0), time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)}

// apart asks for sums of all hours, told apart by everything.
var apart = ledger.HourQuery{From: ever.from, To: ever.to, Hour: true, Series: true, Model: true, Label: true}

// hours are the hourly sums. Parts of one are added up.
func (v view) hours(q ledger.HourQuery) map[ledger.Hour]ledger.Sums {
	v.t.Helper()
	all := map[ledger.Hour]ledger.Sums{}
	v.must("hours", v.s.Hours(v.t.Context(), q, func(h ledger.Hour, s ledger.Sums) error {
		sums := all[h]
		sums.Add(s)
		all[h] = sums
		return nil
	}))
	return all
}

// slots are the sums of slots, but for those that are 0.
func (v view) slots(from, to time.Time) map[ledger.Slot]int64 {
	v.t.Helper()
	all := map[ledger.Slot]int64{}
	v.must("slots", v.s.Slots(v.t.Context(), from, to, func(s ledger.Slot, n int64) error {
		if all[s] += n; all[s] == 0 {
			delete(all, s)
		}
		return nil
	}))
	return all
}

// spend is what a budget was charged at an instant.
type spend struct {
	At time.Time
	N  int64
}

// spends are what budgets were charged, for each of the wants.
func (v view) spends(wants ...ledger.Want) [][]spend {
	v.t.Helper()
	all := make([][]spend, len(wants))
	v.must("spends", v.s.Spends(v.t.Context(), wants, func(i int, at time.Time, n int64) error {
		all[i] = append(all[i], spend{at, n})
		return nil
	}))
	return all
}

// spent is the sum of what budgets were charged, for each of the wants.
func (v view) spent(wants ...ledger.Want) []int64 {
	v.t.Helper()
	sums := make([]int64, len(wants))
	for i, list := range v.spends(wants...) {
		for _, s := range list {
			sums[i] += s.N
		}
	}
	return sums
}

func (v view) ended(from, to time.Time) (list []ledger.Exchange) {
	v.t.Helper()
	v.must("ended", v.s.Ended(v.t.Context(), from, to, func(x *ledger.Exchange) error {
		list = append(list, *x)
		return nil
	}))
	return list
}

func (v view) began(from, to time.Time) (list []ledger.Exchange) {
	v.t.Helper()
	v.must("began", v.s.Began(v.t.Context(), from, to, func(x *ledger.Exchange) error {
		list = append(list, *x)
		return nil
	}))
	return list
}

func (v view) corrections(from, to time.Time) (list []ledger.Correction) {
	v.t.Helper()
	v.must("corrections", v.s.Corrections(v.t.Context(), from, to, func(c *ledger.Correction) error {
		list = append(list, *c)
		return nil
	}))
	return list
}

func (v view) refusals(from, to time.Time) (list []ledger.Refusal) {
	v.t.Helper()
	v.must("refusals", v.s.Refusals(v.t.Context(), from, to, func(r ledger.Refusal) error {
		list = append(list, r)
		return nil
	}))
	return list
}

func (v view) find(id ledger.ID) *ledger.Exchange {
	v.t.Helper()
	x, err := v.s.Find(v.t.Context(), id)
	v.must("find", err)
	return x
}

func (v view) unfinished() []ledger.Exchange {
	v.t.Helper()
	list, err := v.s.Unfinished(v.t.Context())
	v.must("unfinished", err)
	return list
}

func (v view) notices() []ledger.Notice {
	v.t.Helper()
	list, err := v.s.Notices(v.t.Context())
	v.must("notices", err)
	return list
}

func (v view) kept() time.Time {
	v.t.Helper()
	at, err := v.s.Kept(v.t.Context())
	v.must("kept", err)
	return at
}

// same reports a difference.
func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// ids are those of exchanges, in their order.
func ids(list []ledger.Exchange) (all []ledger.ID) {
	for i := range list {
		all = append(all, list[i].Begin.Exchange)
	}
	return all
}
