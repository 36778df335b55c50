package sqlstore

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// TestReadChargesAsJSON: what it reads is what encoding/json reads, and it reads whatever is written.
func TestReadChargesAsJSON(t *testing.T) {
	budgets := map[int64]ledger.Budget{}
	for i := range int64(5) {
		budgets[i] = ledger.Budget{Name: strconv.FormatInt(i, 10)}
	}
	rapid.Check(t, func(t *rapid.T) {
		var lists [][]int64
		var want []ledger.Charge
		for range rapid.IntRange(0, 5).Draw(t, "charges") {
			number := rapid.Int64().Filter(func(n int64) bool { return n != 0 })
			c := ledger.Charge{Budget: budgets[rapid.Int64Range(0, 4).Draw(t, "budget")], N: rapid.Int64().Draw(t, "N")}
			id, _ := strconv.ParseInt(c.Budget.Name, 10, 64)
			list := []int64{id, c.N}
			if rapid.Bool().Draw(t, "is late") {
				c.Late = number.Draw(t, "late")
				list = append(list, c.Late)
			}
			lists, want = append(lists, list), append(want, c)
		}
		if lists == nil {
			lists = [][]int64{}
		}
		column, err := json.Marshal(lists)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readCharges(string(column), budgets); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%s: %v, %v", column, got, err)
		}
	})
	for _, column := range []string{
		"", "[", "]", "[]]", "[[]]", "[[1]]", "[[1,2,3,4]]", "[[1,2],]", "[[1,2][3,4]]", "[,[1,2]]", "[1,2]", "[[1,2]", "[[1,2.5]]", "[[1,x]]", "[[1,,2]]",
		"[[1,2]]x", "null", "{}", "[[1," + strconv.Itoa(math.MaxInt64) + "0]]", `[["1",2]]`, "[[1,2],[3]]", "[[[1,2]]]",
	} {
		if got, err := readCharges(column, budgets); !errors.Is(err, ledger.ErrCorrupt) {
			t.Errorf("%q: %v, %v", column, got, err)
		}
	}
}
