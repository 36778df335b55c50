package ledger_test

import (
	"slices"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

func TestIDsAreReadBackAndSortAsTheirTexts(t *testing.T) {
	ids := ledger.NewIDs(7, 0)
	before := time.Now().Truncate(time.Microsecond)
	var list []ledger.ID
	var texts []string
	for range 1000 {
		id := ids.Next()
		list, texts = append(list, id), append(texts, id.String())
		if back, err := ledger.ParseID(id.String()); err != nil || back != id {
			t.Fatalf("ParseID(%s) = %v, %v", id, back, err)
		}
		if id.Slot() != 7 || id.Time().Before(before) {
			t.Fatalf("%s: slot %d, time %v; want 7 and no earlier than %v", id, id.Slot(), id.Time(), before)
		}
	}
	if !slices.IsSorted(list) || !slices.IsSorted(texts) || len(slices.Compact(list)) != 1000 {
		t.Error("ids are not each larger than the one before")
	}
}

func TestIDsGoOnFromTheLargestThereWas(t *testing.T) {
	last := ledger.At(time.Now().Add(time.Hour)) + 3
	if id := ledger.NewIDs(0, last).Next(); id <= last {
		t.Errorf("after a clock that was an hour ahead the next id is %s, no larger than %s", id, last)
	}
}

func TestWhatIsNoID(t *testing.T) {
	for _, text := range []string{"", "req_", "req_0000000000000000", "abc_0000000000000", "req_000000000000u", "req_zzzzzzzzzzzzz0", "req_zzzzzzzzzzzzz"} {
		if id, err := ledger.ParseID(text); err == nil {
			t.Errorf("ParseID(%q) = %v, want an error", text, id)
		}
	}
}

func TestInstantsThatNoIDCanBeOf(t *testing.T) {
	now, end := ledger.At(time.Now()), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	if first, last := ledger.At(time.Time{}), ledger.At(end); first != 0 || last <= now || ledger.At(time.Unix(1<<40, 0)) != last {
		t.Errorf("ids of the year 1, of now and of the year 9999 are %d, %d and %d", first, now, last)
	}
	if got := ledger.At(time.Date(2255, 1, 1, 0, 0, 0, 0, time.UTC)); got.Time().UTC().Year() != 2255 {
		t.Errorf("an id of 2255 says %v", got.Time())
	}
}
