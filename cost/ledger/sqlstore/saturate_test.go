package sqlstore

import (
	"database/sql"
	"math"
	"math/big"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite"
	"pgregory.net/rapid"
)

// within is the number in 64 bits that is nearest.
func within(n *big.Int) int64 {
	switch {
	case n.IsInt64():
		return n.Int64()
	case n.Sign() > 0:
		return math.MaxInt64
	}
	return math.MinInt64
}

// What the statements add up is what big integers say, as far as it fits.
func TestSumsAgainstBigIntegers(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "sums.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE spent (budget INTEGER PRIMARY KEY, n INTEGER NOT NULL) STRICT"); err != nil {
		t.Fatal(err)
	}
	figure := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-9, 9), rapid.SampledFrom([]int64{math.MaxInt64, math.MinInt64, math.MaxInt64 / 2, 1 << 32, -1 << 32, 1<<32 - 1}))
	rapid.Check(t, func(t *rapid.T) {
		figures := rapid.SliceOfN(figure, 1, 12).Draw(t, "figures")
		if _, err := db.Exec("DELETE FROM spent"); err != nil {
			t.Fatal(err)
		}
		exact, stepwise := new(big.Int), new(big.Int)
		for i, n := range figures {
			exact.Add(exact, big.NewInt(n))
			stepwise = big.NewInt(within(stepwise.Add(stepwise, big.NewInt(n))))
			if _, err := db.Exec("INSERT INTO spent VALUES (?, ?)", i+1, n); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec("INSERT INTO spent VALUES (0, ?) ON CONFLICT (budget) DO UPDATE SET "+added("spent", "n"), n); err != nil {
				t.Fatalf("add %d: %v", n, err)
			}
		}
		var got int64
		sum := scanSums([]*int64{&got}, true)
		if err := db.QueryRow("SELECT " + sumOf("n", true) + " FROM spent WHERE budget > 0").Scan(sum.columns()...); err != nil {
			t.Fatal(err)
		}
		if sum.add(); got != within(exact) {
			t.Fatalf("the sum of %d in halves is %d, want %d", figures, got, within(exact))
		}
		var kept int64
		if err := db.QueryRow("SELECT n FROM spent WHERE budget = 0").Scan(&kept); err != nil {
			t.Fatal(err)
		}
		if want := within(stepwise); kept != want && (want != math.MinInt64 || kept != -math.MaxInt64) && !saturatedBelow(figures) {
			t.Fatalf("%d added up one by one are %d, want %d", figures, kept, want)
		}
	})
}

// saturatedBelow reports whether the smallest number was reached on the way: the statements stop one before it.
func saturatedBelow(figures []int64) bool {
	sum := new(big.Int)
	for _, n := range figures {
		sum = big.NewInt(within(sum.Add(sum, big.NewInt(n))))
		if sum.Int64() == math.MinInt64 {
			return true
		}
	}
	return false
}

// Postgres tells sums as texts.
func TestSumsThatAreTexts(t *testing.T) {
	for v, want := range map[any]int64{
		nil: 0, int64(-5): -5, "17": 17, "9223372036854775808": math.MaxInt64, "-99999999999999999999": math.MinInt64,
	} {
		var n total
		if err := n.Scan(v); err != nil || int64(n) != want {
			t.Errorf("%v is read as %d, %v; want %d", v, n, err, want)
		}
	}
	var n total
	if err := n.Scan([]byte("12x")); err == nil {
		t.Error("12x is read as a sum")
	}
}
