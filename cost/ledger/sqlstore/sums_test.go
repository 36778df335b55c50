package sqlstore

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// One statement must not change a row twice, which Postgres refuses.
func TestABudgetOfTwoUnitsHasOneRow(t *testing.T) {
	slots := map[ledger.Slot]int64{
		{Budget: ledger.Budget{Name: "a", Unit: "tokens"}, Start: 900}:    3,
		{Budget: ledger.Budget{Name: "a", Unit: "requests"}, Start: 900}:  4,
		{Budget: ledger.Budget{Name: "a", Unit: "requests"}, Start: 1800}: 5,
		{Budget: ledger.Budget{Name: "b", Unit: "tokens"}, Start: 900}:    math.MaxInt64,
		{Budget: ledger.Budget{Name: "b", Unit: "requests"}, Start: 900}:  1,
	}
	numbers := map[string]int64{"a": 1, "b": 2}
	got := slotsByNumber(slots, func(b ledger.Budget) int64 { return numbers[b.Name] })
	if d := cmp.Diff(map[numbered]int64{{1, 900}: 7, {1, 1800}: 5, {2, 900}: math.MaxInt64}, got, cmp.AllowUnexported(numbered{})); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// The order in which rows are locked is the same for all writers.
func TestSumsAreWrittenInOneOrder(t *testing.T) {
	hours := map[ledger.Hour]bool{}
	slots := map[numbered]bool{}
	refusals := map[ledger.Refusal]bool{}
	two := []string{"a", "b"}
	for i := range 1 << 8 {
		at := func(bit int) string { return two[i>>bit&1] }
		hours[ledger.Hour{Start: int64(i & 1), Series: ledger.Series{Key: at(1), Groups: at(2), Endpoint: at(3), Upstream: at(4)}, Model: at(5), Served: at(6), Label: at(7)}] = true
		slots[numbered{int64(i & 3), int64(i >> 2)}] = true
		refusals[ledger.Refusal{Hour: int64(i & 1), Key: at(1), Model: at(2), Code: at(3)}] = true
	}
	if len(hours) != 256 || len(slots) != 256 || len(refusals) != 16 {
		t.Fatal("BUG: some are the same")
	}
	first := slices.SortedFunc(maps.Keys(hours), byHour)
	for range 3 {
		if !slices.Equal(slices.SortedFunc(maps.Keys(hours), byHour), first) {
			t.Error("hours come in another order")
		}
	}
	for i := range first[1:] {
		if byHour(first[i], first[i+1]) >= 0 {
			t.Errorf("%+v and %+v have no order", first[i], first[i+1])
		}
	}
	list := slices.SortedFunc(maps.Keys(slots), bySlot)
	for i := range list[1:] {
		if bySlot(list[i], list[i+1]) >= 0 {
			t.Errorf("%+v and %+v have no order", list[i], list[i+1])
		}
	}
	refused := slices.SortedFunc(maps.Keys(refusals), byNames)
	for i := range refused[1:] {
		if byNames(refused[i], refused[i+1]) >= 0 {
			t.Errorf("%+v and %+v have no order", refused[i], refused[i+1])
		}
	}
}
