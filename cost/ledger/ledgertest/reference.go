package ledgertest

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// reference keeps every exchange there ever was, in maps, and adds them up anew whenever it is asked.
type reference struct {
	all    map[ledger.ID]*record
	ended  map[string][]*record // of each key
	upto   map[int]ledger.ID    // of each writer's slot: the newest row that is in the sums
	kept   time.Time            // exchanges that ended since then have rows
	summed int64                // slots before that were summed up
}

// record is one exchange.
type record struct {
	ledger.Exchange
	corrections []ledger.Correction
	dropped     bool
}

func newReference() *reference {
	return &reference{all: map[ledger.ID]*record{}, ended: map[string][]*record{}, upto: map[int]ledger.ID{}}
}

// apply notes a batch that was committed.
func (r *reference) apply(t testing.TB, b *ledger.Batch) {
	t.Helper()
	for _, begin := range b.Begins {
		r.all[begin.Exchange] = &record{Exchange: ledger.Exchange{Begin: *begin}}
	}
	for _, d := range b.Draws {
		x := r.all[d.Exchange]
		x.Draws = append(x.Draws, *d)
	}
	for _, e := range b.Ends {
		x := r.all[e.Exchange]
		if x.End = e; e.Ending == ledger.Crashed {
			x.judgeCrash(t)
		}
		r.ended[x.Begin.Series.Key] = append(r.ended[x.Begin.Series.Key], x)
	}
	for _, c := range b.Corrections {
		x := r.all[c.Exchange]
		x.corrections = append(x.corrections, *c)
	}
	if b.Rolled != nil {
		r.upto[b.Slot] = max(r.upto[b.Slot], b.Rolled.Upto)
	}
}

// adopted notes that what is left by all but some slots is ended, as crashed, and in the sums.
func (r *reference) adopted(t testing.TB, v view, alive map[int]bool) {
	t.Helper()
	for id, x := range r.all {
		if x.End == nil && !alive[id.Slot()] {
			got := v.find(id)
			if got.End == nil || got.End.Ending != ledger.Crashed {
				t.Errorf("%v, of a dead writer, is not ended as crashed: %+v", id, got)
				continue
			}
			x.End = got.End
			x.judgeCrash(t)
			r.ended[x.Begin.Series.Key] = append(r.ended[x.Begin.Series.Key], x)
		}
		if x.End == nil {
			continue
		}
		if slot := x.End.Seq.Slot(); !alive[slot] {
			r.upto[slot] = max(r.upto[slot], x.End.Seq)
		}
		for _, c := range x.corrections {
			if slot := c.Seq.Slot(); !alive[slot] {
				r.upto[slot] = max(r.upto[slot], c.Seq)
			}
		}
	}
}

// some is an exchange of a key that has ended, nil if there is none.
func (r *reference) some(key string, random *rand.Rand) *record {
	if list := r.ended[key]; len(list) > 0 {
		return list[random.IntN(len(list))]
	}
	return nil
}

// isThere reports whether a batch was committed: by one of its rows that only its writer can have written, as it is there whole
// or not at all. That an exchange has ended says nothing: its writer is dead by now, and where the batch was lost, whoever
// adopted the slot has ended the exchange as crashed.
func isThere(t testing.TB, s ledger.Store, b *ledger.Batch) bool {
	v := look(t, s)
	defer v.close()
	switch {
	case len(b.Begins) > 0:
		return v.find(b.Begins[0].Exchange) != nil
	case len(b.Draws) > 0:
		return slices.ContainsFunc(v.find(b.Draws[0].Exchange).Draws, func(d ledger.Draw) bool { return d.Step == b.Draws[0].Step })
	case len(b.Corrections) > 0:
		at := b.Corrections[0].Exchange.Time()
		return slices.ContainsFunc(v.corrections(at, at.Add(time.Microsecond)), func(c ledger.Correction) bool { return c.Seq == b.Corrections[0].Seq })
	case len(b.Ends) > 0:
		// All of them: what its slot's last life had left, the writer ends as crashed, too, at worst in the same microsecond.
		return !slices.ContainsFunc(b.Ends, func(e *ledger.End) bool {
			end := v.find(e.Exchange).End
			return end == nil || end.Seq != e.Seq || end.Ending != e.Ending
		})
	}
	panic("BUG: nobody can see whether a batch without rows is there")
}

// inSums reports whether a row is in the ledger's own sums.
func (r *reference) inSums(seq ledger.ID) bool { return seq <= r.upto[seq.Slot()] }

// oldest are the exchanges that can be dropped, in their order: up to the first that is not in the sums, or has a correction
// that is not.
func (r *reference) oldest(before time.Time) (list []*record) {
	limit := ledger.At(before)
	for _, x := range r.all {
		if x.End == nil || x.dropped {
			continue
		}
		for _, c := range x.corrections {
			if !r.inSums(c.Seq) {
				limit = min(limit, x.End.Seq)
			}
		}
		if !r.inSums(x.End.Seq) {
			limit = min(limit, x.End.Seq)
		}
		list = append(list, x)
	}
	list = slices.DeleteFunc(list, func(x *record) bool { return x.End.Seq >= limit })
	slices.SortFunc(list, func(a, b *record) int { return cmp.Compare(a.End.Seq, b.End.Seq) })
	return list
}

// drop notes what pruning has to drop, and returns how many.
func (r *reference) drop(before time.Time, most int, now time.Time) int {
	list := r.oldest(before)
	dropped := list[:min(most, len(list))]
	for _, x := range dropped {
		x.dropped = true
		if at := x.End.Seq.Time().Add(time.Microsecond); at.After(r.kept) {
			r.kept = at
		}
	}
	if len(dropped) < most {
		r.summed = max(r.summed, ledger.SlotOf(now.Add(-ledger.SlotsKept)))
	}
	return len(dropped)
}

// judgeCrash holds the end row of an exchange that crashed against all it had reserved and drawn.
func (x *record) judgeCrash(t testing.TB) {
	t.Helper()
	cost, usage := x.Begin.Reserved, x.Begin.Most
	for _, d := range x.Draws {
		cost += d.Reserved
		usage.Output += d.More.Output
	}
	charged := map[string]int64{}
	for _, c := range x.End.Charges {
		charged[c.Budget.Name] += c.N + c.Late
	}
	if x.End.Cost != cost || x.End.Usage != usage || x.End.Basis != ledger.Unreported || !maps.Equal(charged, x.reserved()) {
		t.Errorf("%v crashed, and is charged %+v; it had reserved %+v and drawn %+v", x.Begin.Exchange, x.End, x.Begin, x.Draws)
	}
}

// reserved is what the exchange has reserved and drawn of each budget.
func (x *record) reserved() map[string]int64 {
	all := map[string]int64{}
	for _, c := range x.Begin.Charges {
		all[c.Budget.Name] += c.N + c.Late
	}
	for _, d := range x.Draws {
		for _, c := range d.Charges {
			all[c.Budget.Name] += c.N + c.Late
		}
	}
	return all
}

// rows are those of all exchanges that have ended, dropped or not, and all corrections.
func (r *reference) rows() (ended []ledger.Exchange, corrected []ledger.Correction) {
	for _, x := range r.all {
		if x.End != nil {
			ended = append(ended, x.Exchange)
			corrected = append(corrected, x.corrections...)
		}
	}
	return ended, corrected
}

// slots are the sums of slots of all that has ended. Those that were summed up are one.
func (r *reference) slots() map[ledger.Slot]int64 {
	all := map[ledger.Slot]int64{}
	charge := func(b ledger.Budget, at ledger.ID, n int64) {
		all[ledger.Slot{Budget: b, Start: at.Time().Truncate(ledger.SlotLength).Unix()}] += n
	}
	for _, x := range r.all {
		if x.End == nil {
			continue
		}
		for _, c := range x.End.Charges {
			charge(c.Budget, x.Begin.Exchange, c.N)
			charge(c.Budget, x.End.Seq, c.Late)
		}
		for _, correction := range x.corrections {
			for _, c := range correction.Charges {
				charge(c.Budget, x.Begin.Exchange, c.N)
			}
		}
	}
	return r.sumUpOld(all)
}

// sumUpOld sums up the slots that may be, and drops those that are 0.
func (r *reference) sumUpOld(slots map[ledger.Slot]int64) map[ledger.Slot]int64 {
	all := map[ledger.Slot]int64{}
	for s, n := range slots {
		if s.Start < r.summed {
			s.Start = 0
		}
		all[s] += n
	}
	maps.DeleteFunc(all, func(_ ledger.Slot, n int64) bool { return n == 0 })
	return all
}

// spent is what each budget was charged since the beginning of a slot, unfinished exchanges included.
func (r *reference) spent(since time.Time) map[string]int64 {
	all := map[string]int64{}
	for slot, n := range r.slots() {
		if since.IsZero() || slot.Start >= since.Unix() {
			all[slot.Budget.Name] += n
		}
	}
	for _, x := range r.all {
		if x.End != nil {
			continue
		}
		crash := x.Crash()
		for _, c := range crash.Charges {
			if !x.Begin.Exchange.Time().Before(since) {
				all[c.Budget.Name] += c.N
			}
			all[c.Budget.Name] += c.Late // its writer was seen later than all that happens
		}
	}
	return all
}
