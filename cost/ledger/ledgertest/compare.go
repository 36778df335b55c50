package ledgertest

import (
	"cmp"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// compare holds the ledger against the reference.
func (w *world) compare() {
	w.t.Helper()
	v := look(w.t, w.reader)
	defer v.close()
	ended, corrected := w.ref.rows()
	n := w.rand.IntN(1 << 4)
	somewhen := w.now.Add(-time.Duration(w.rand.Int64N(int64(100 * 24 * time.Hour))))
	for _, q := range []ledger.HourQuery{
		{From: ever.from, To: ever.to, Series: true},
		{From: somewhen, To: w.now, Hour: n&1 > 0, Series: n&2 > 0, Model: n&4 > 0, Label: n&8 > 0},
		{From: somewhen, To: w.now, Day: w.zone(), Series: n&2 > 0, Model: n&4 > 0, Label: n&8 > 0},
	} {
		sameMap(w.t, "sums", v.hours(q), sumUp(q, ended, corrected))
	}
	sameMap(w.t, "slots", w.ref.sumUpOld(v.slots(time.Time{}, ever.to)), w.ref.slots())
	w.compareSpends(v)
	w.compareRows(v)
	if got, want := v.kept(), w.ref.kept; !w.ref.kept.IsZero() && !got.Equal(want) {
		w.t.Errorf("rows are said to be kept since %v, and are since %v", got, want)
	}
}

// sameMap is same for maps too large for go-cmp's patience.
func sameMap[K, V comparable](t testing.TB, what string, got, want map[K]V) {
	t.Helper()
	if !maps.Equal(got, want) {
		same(t, what, got, want)
	}
}

// zone is one whose days are apart from those of UTC by hours, by parts of one, or not at all.
func (w *world) zone() *time.Location {
	const quarter = 15 * 60
	return time.FixedZone("somewhere", (w.rand.IntN(26*4)-12*4)*quarter)
}

// compareSpends asks for budgets of many keys, in every detail.
func (w *world) compareSpends(v view) {
	w.t.Helper()
	recent := time.Now().Add(-time.Duration(w.rand.Int64N(int64(99 * 24 * time.Hour)))).Truncate(ledger.SlotLength)
	since := []time.Time{{}, recent}
	spent := []map[string]int64{w.ref.spent(since[0]), w.ref.spent(since[1])}
	var wants []ledger.Want
	var want []int64
	ask := func(name string) {
		i := w.rand.IntN(2)
		wants = append(wants, ledger.Want{Budget: name, Since: since[i], Detail: ledger.Detail(w.rand.IntN(3))})
		want = append(want, spent[i][name])
	}
	ask("all")
	for _, s := range w.keys {
		if w.oneIn(4) {
			ask(s.key)
			ask(s.key + "/money")
		}
	}
	for i, got := range v.spent(wants...) {
		if got != want[i] {
			w.t.Errorf("%+v: %d was spent, want %d", wants[i], got, want[i])
		}
	}
}

// compareRows reads all rows that are kept.
func (w *world) compareRows(v view) {
	w.t.Helper()
	var open, kept, ended []*record
	for _, x := range w.ref.all {
		if x.End == nil {
			open = append(open, x)
		}
		if !x.dropped {
			kept = append(kept, x)
		}
	}
	byID := func(a, b *record) int { return cmp.Compare(a.Begin.Exchange, b.Begin.Exchange) }
	slices.SortFunc(open, byID)
	slices.SortFunc(kept, byID)
	for _, x := range kept {
		if x.End != nil {
			ended = append(ended, x)
		}
	}
	slices.SortFunc(ended, func(a, b *record) int { return cmp.Compare(a.End.Seq, b.End.Seq) })
	w.sameRows("began", v.began(ever.from, ever.to), kept, false)
	w.sameRows("ended", v.ended(ever.from, ever.to), ended, false)
	w.sameRows("unfinished", v.unfinished(), open, true)
	rows := map[ledger.ID]int64{}
	for _, c := range v.corrections(ever.from, ever.to) {
		rows[c.Exchange] += int64(c.Cost) + c.Charges[0].N
	}
	for _, x := range kept {
		n := int64(0)
		for _, c := range x.corrections {
			n += int64(c.Cost) + c.Charges[0].N
		}
		if rows[x.Begin.Exchange] != n {
			w.t.Errorf("corrections of %v come to %d, want %d", x.Begin.Exchange, rows[x.Begin.Exchange], n)
		}
	}
}

func (w *world) sameRows(what string, got []ledger.Exchange, want []*record, draws bool) {
	w.t.Helper()
	if len(got) != len(want) {
		w.t.Errorf("%s: %d rows, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if !want[i].is(&got[i], draws) {
			w.t.Errorf("%s: row %d is %+v, want %+v", what, i, got[i], want[i].Exchange)
			return
		}
	}
}

// is compares what matters of an exchange, without go-cmp's patience.
func (x *record) is(o *ledger.Exchange, draws bool) bool {
	a, b := &x.Begin, &o.Begin
	if a.Exchange != b.Exchange || a.Series != b.Series || a.Most != b.Most || a.Reserved != b.Reserved || !slices.Equal(a.Charges, b.Charges) {
		return false
	}
	if draws && !slices.EqualFunc(x.Draws, o.Draws, func(a, b ledger.Draw) bool {
		return a.Step == b.Step && a.More == b.More && a.Reserved == b.Reserved && slices.Equal(a.Charges, b.Charges)
	}) {
		return false
	}
	if x.End == nil || o.End == nil {
		return x.End == nil && o.End == nil
	}
	return x.End.Seq == o.End.Seq && x.End.Usage == o.End.Usage && x.End.Cost == o.End.Cost && slices.Equal(x.End.Charges, o.End.Charges)
}

// judgePast holds what a process is told when it starts against what its slot's last life has left.
func (w *world) judgePast(p *ledger.Past) {
	w.t.Helper()
	for _, c := range w.clerks {
		if c != nil && c.past != p && c.past.Slot == p.Slot {
			w.t.Errorf("a process with slot %d starts beside one with the same", p.Slot)
		}
	}
	open, tail, corrected := map[ledger.ID]bool{}, map[ledger.ID]bool{}, map[ledger.ID]bool{}
	last := ledger.ID(0)
	for id, x := range w.ref.all {
		if !x.dropped {
			last = max(last, id)
		}
		if x.End == nil && id.Slot() == p.Slot {
			open[id] = true
		}
		if x.End != nil && x.End.Seq.Slot() == p.Slot && !w.ref.inSums(x.End.Seq) {
			tail[x.End.Seq] = true
		}
		for _, c := range x.corrections {
			if c.Seq.Slot() == p.Slot && !w.ref.inSums(c.Seq) {
				corrected[c.Seq] = true
			}
		}
	}
	toldOpen, toldTail, toldCorrected := map[ledger.ID]bool{}, map[ledger.ID]bool{}, map[ledger.ID]bool{}
	for _, x := range p.Unfinished {
		toldOpen[x.Begin.Exchange] = true
	}
	for _, x := range p.Tail {
		toldTail[x.End.Seq] = true
	}
	for _, c := range p.Corrected {
		toldCorrected[c.Seq] = true
	}
	if !maps.Equal(open, toldOpen) || !maps.Equal(tail, toldTail) || !maps.Equal(corrected, toldCorrected) {
		w.t.Errorf("a process is told of %d unfinished exchanges, %d ends and %d corrections that are not in the sums; there are %d, %d and %d",
			len(toldOpen), len(toldTail), len(toldCorrected), len(open), len(tail), len(corrected))
	}
	if p.Last < last {
		w.t.Errorf("the largest ID is said to be %v, and there is %v", p.Last, last)
	}
}
