package ledger

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"
)

// slotTally compares what budgets were charged in quarters of an hour with rows.
type slotTally struct {
	from  int64 // Unix seconds; what is before is not compared
	sharp int64 // what is before may have been summed up
	whole bool  // no row was ever dropped, so that what is before sharp can be compared in one sum

	read   time.Time            // slots that begin before were compared
	should map[Slot]int64       // what rows come to, of slots that were not compared yet
	wrong  map[Slot]int64       // what the ledger says, of slots in which it is not what rows came to by then
	old    map[Budget]*[2]int64 // of all slots before sharp: what the ledger says, and what rows come to
}

func newSlotTally() *slotTally {
	return &slotTally{read: dawn, should: map[Slot]int64{}, wrong: map[Slot]int64{}, old: map[Budget]*[2]int64{}}
}

// add adds what a row charges a budget at an instant.
func (t *slotTally) add(b Budget, at ID, n int64) {
	if n == 0 {
		return
	}
	switch start := SlotOf(at.Time()); {
	case start < t.from:
	case start < t.sharp:
		t.oldSlots(b)[1] += n
	default:
		t.should[Slot{b, start}] += n
	}
}

func (t *slotTally) oldSlots(b Budget) *[2]int64 {
	sums := t.old[b]
	if sums == nil {
		sums = new([2]int64)
		t.old[b] = sums
	}
	return sums
}

// readSlots compares the slots up to an instant, once all rows are read that began before it. Of exchanges that were ended by another
// writer than began them, whose clock is behind, part may still be missing: what differs is looked at again in the end.
func (v *verifier) readSlots(ctx context.Context, upto time.Time) error {
	t := v.slots
	is := map[Slot]int64{}
	err := v.Slots(ctx, t.read, upto, func(s Slot, n int64) error {
		switch {
		case s.Start < t.from:
		case s.Start < t.sharp:
			v.report.Slots++
			t.oldSlots(s.Budget)[0] += n
		default:
			is[s] += n
		}
		return nil
	})
	t.read = upto
	v.report.Slots += int64(len(is))
	for s, n := range is {
		if n != t.should[s] {
			t.wrong[s] = n
			continue
		}
		delete(t.should, s)
	}
	return err
}

// closeSlots compares what is left.
func (v *verifier) closeSlots() {
	t := v.slots
	for s, n := range t.should {
		if _, known := t.wrong[s]; !known && n != 0 {
			t.wrong[s] = 0
		}
	}
	slots := slices.SortedFunc(maps.Keys(t.wrong), func(a, b Slot) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Budget.Name, b.Budget.Name))
	})
	for _, s := range slots {
		if is, should := t.wrong[s], t.should[s]; is != should {
			v.differs(Difference{Kind: SlotDiffers, At: time.Unix(s.Start, 0), Budget: s.Budget.Name, Figure: s.Budget.Unit, Is: is, Should: should})
		}
	}
	for _, b := range slices.SortedFunc(maps.Keys(t.old), func(a, b Budget) int { return cmp.Compare(a.Name, b.Name) }) {
		if sums := t.old[b]; sums[0] != sums[1] {
			v.differs(Difference{
				Kind: SlotDiffers, At: time.Unix(t.sharp, 0), Budget: b.Name, Figure: b.Unit, Is: sums[0], Should: sums[1],
				Text: "of all time before",
			})
		}
	}
}
