package ledger

import (
	"testing"
	"time"
)

// A row that is queued while a group is being prepared is not in the sums of that group, so the group must not say that it is:
// should the process die before the next sums are written, nobody would count the row.
func TestSumsSayNoMoreThanTheyHold(t *testing.T) {
	w, _, err := Open(t.Context(), emptyStore{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	begin := func() ID {
		id := w.IDs().Next()
		w.Begin(&Begin{Exchange: id})
		return id
	}
	first, second := begin(), begin()
	w.End(&End{Exchange: first})
	g := w.take(true)
	late := &End{Exchange: second}
	w.End(late) // between the two steps of commitNext
	if w.prepare(g, true); g.batch.Rolled == nil || g.batch.Rolled.Upto >= late.Seq {
		t.Errorf("the sums reach to %v, and %v is not in them", g.batch.Rolled.Upto.Time(), late.Seq.Time())
	}
	if got := len(g.batch.Rolled.Hours); got != 1 {
		t.Errorf("%d hourly sums, want one", got)
	}
	if got := g.batch.Rolled.Hours[Hour{Start: HourOf(time.Now())}]; got == nil || got.Requests != 1 {
		t.Errorf("the sums hold %+v, want one request", got)
	}
}
