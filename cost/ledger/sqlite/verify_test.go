package sqlite_test

import (
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// sql changes the ledger behind its back.
func (k *keeper) sql(statements ...string) {
	k.t.Helper()
	db, err := sql.Open("sqlite", "file:"+k.path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		k.t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			k.t.Fatalf("%s: %v", s, err)
		}
	}
}

// wantBalance fails the test unless the books balance.
func (k *keeper) wantBalance(what string) *ledger.Report {
	k.t.Helper()
	r := k.report(ledger.VerifyOptions{})
	if !r.Balances() {
		k.t.Fatalf("%s: %d differences, the first %+v", what, int64(len(r.Differences))+r.Further, r.Differences[0])
	}
	return r
}

func TestCleanBooksBalance(t *testing.T) {
	for seed := range uint64(3) {
		k := newKeeper(t, seed, 1+int(seed)*4)
		k.work(250, time.Now().Add(-10*time.Hour), 10*time.Hour)
		r := k.wantBalance(fmt.Sprintf("seed %d", seed))
		if r.Exchanges != 250 || r.Corrections == 0 || r.Hours == 0 || r.Slots == 0 || !r.HoursFrom.IsZero() {
			t.Errorf("seed %d: %+v", seed, r)
		}
		var reserved cost.NanoUSD
		for _, b := range k.open {
			reserved += b.Reserved
		}
		if want := (ledger.OpenExchanges{N: int64(len(k.open)), Reserved: reserved, Oldest: r.Open.Oldest}); r.Open != want {
			t.Errorf("seed %d: open: %+v, want %+v", seed, r.Open, want)
		}
	}
}

// TestAnEmptyLedgerBalances: there is nothing to be wrong.
func TestAnEmptyLedgerBalances(t *testing.T) {
	if r := newKeeper(t, 1, 1).wantBalance("empty"); r.Exchanges != 0 || r.Hours != 0 || r.Slots != 0 {
		t.Errorf("%+v", r)
	}
}

// TestWhatWasDroppedIsNotMissed: sums of whose rows some were dropped are left alone, and slots that were summed up are
// compared in one sum as long as all rows are there.
func TestWhatWasDroppedIsNotMissed(t *testing.T) {
	const days = 24 * time.Hour
	k := newKeeper(t, 3, 4)
	const since = ledger.SlotsKept + 30*days
	k.work(100, time.Now().Add(-since), since)
	k.commit(true)
	for range 20 { // slots are summed up a few budgets at a time
		if n, err := k.store.Prune(t.Context(), time.Now().Add(-2*since), 100); n != 0 || err != nil {
			t.Fatalf("%d dropped, %v", n, err)
		}
	}
	k.wantBalance("slots summed up")
	k.sql(`UPDATE spent SET n = n + 3 WHERE slot = 0 AND budget = (SELECT MIN(budget) FROM spent WHERE slot = 0)`)
	r := k.report(ledger.VerifyOptions{})
	if len(r.Differences) != 1 || r.Differences[0].Kind != ledger.SlotDiffers || r.Differences[0].Is-r.Differences[0].Should != 3 {
		t.Errorf("of slots summed up: %+v", r.Differences)
	}
	if n, err := k.store.Prune(t.Context(), time.Now().Add(-80*days), 1_000_000); n == 0 || err != nil {
		t.Fatalf("%d dropped, %v", n, err)
	}
	r = k.wantBalance("rows dropped")
	if since := time.Since(r.HoursFrom); since < 79*days || since > 100*days || r.Exchanges == 0 || r.Exchanges == 100 {
		t.Errorf("%d exchanges, hours from %s", r.Exchanges, r.HoursFrom)
	}
	// What is still there is still proven.
	k.sql(`UPDATE hours SET cost = cost + 1 WHERE hour = (SELECT MAX(hour) FROM hours)`)
	if r := k.report(ledger.VerifyOptions{}); len(r.Differences) == 0 {
		t.Error("a wrong sum was not found")
	}
}

// The first rows of the ledger, which are in the sums.
const (
	anEnd        = `(SELECT seq FROM ends WHERE basis = 'reported' AND cost > 0 AND id NOT IN (SELECT id FROM corrections) ORDER BY seq LIMIT 1)`
	aCorrection  = `(SELECT MAX(seq) FROM corrections WHERE basis = 'reported' AND cost <> 0)`
	anHour       = `(hour, series, model, served, label) = (SELECT hour, series, model, served, label FROM hours ORDER BY 1, 2, 3, 4, 5 LIMIT 1)`
	dollarBudget = `(SELECT id FROM budgets WHERE name = 'key k0: dollars each month')`
)

// copied is another ledger with the same rows and sums, to be read.
func (k *keeper) copied(t *testing.T) *keeper {
	t.Helper()
	out := &keeper{t: t, path: filepath.Join(t.TempDir(), "copy.db")}
	if err := sqlite.Backup(t.Context(), k.path, out.path); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.OpenReader(t.Context(), out.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	out.store = store
	return out
}

func TestDifferencesAreFound(t *testing.T) {
	whole := newKeeper(t, 5, 3)
	whole.work(120, time.Now().Add(-2*time.Hour), 2*time.Hour)
	whole.commit(true)
	whole.copied(t).wantBalance("a copy")
	for name, one := range map[string]struct {
		sql   string
		kinds []ledger.Kind
		by    int64 // what the first of the first kind is off by; 0: it is not looked at
	}{
		"a sum's cost":           {`UPDATE hours SET cost = cost + 7 WHERE ` + anHour, []ledger.Kind{ledger.HourDiffers, ledger.DayDiffers}, 7},
		"a sum's requests":       {`UPDATE hours SET requests = requests - 1 WHERE ` + anHour, []ledger.Kind{ledger.HourDiffers, ledger.DayDiffers}, -1},
		"a sum's label":          {`UPDATE hours SET label = 'another' WHERE ` + anHour, []ledger.Kind{ledger.HourDiffers, ledger.DayDiffers}, 0},
		"a sum that is gone":     {`DELETE FROM hours WHERE ` + anHour, []ledger.Kind{ledger.HourDiffers, ledger.DayDiffers}, 0},
		"all sums that are gone": {`DELETE FROM hours`, []ledger.Kind{ledger.HourDiffers, ledger.DayDiffers}, 0},
		"a sum of no rows": {
			`INSERT INTO hours SELECT 1700000000 / 3600 * 3600, series, model, served, label, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5 FROM hours LIMIT 1`,
			[]ledger.Kind{ledger.HourDiffers, ledger.DayDiffers},
			5,
		},
		"a day's cost":       {`UPDATE days SET cost = cost + 7 WHERE (day, series, model, served, label) = (SELECT day, series, model, served, label FROM days ORDER BY 1, 2, 3, 4, 5 LIMIT 1)`, []ledger.Kind{ledger.DayDiffers}, 7},
		"a day that is gone": {`DELETE FROM days`, []ledger.Kind{ledger.DayDiffers}, 0},
		"a day without hours": {
			`INSERT INTO days SELECT 86400, series, model, served, label, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5 FROM days LIMIT 1`,
			[]ledger.Kind{ledger.DayDiffers},
			5,
		},
		"a slot":                {`UPDATE spent SET n = n + 9 WHERE (budget, slot) = (SELECT budget, slot FROM spent WHERE budget = ` + dollarBudget + ` ORDER BY slot LIMIT 1)`, []ledger.Kind{ledger.SlotDiffers}, 9},
		"a slot that is gone":   {`DELETE FROM spent WHERE budget = ` + dollarBudget, []ledger.Kind{ledger.SlotDiffers}, 0},
		"a slot of no rows":     {`INSERT INTO spent VALUES (` + dollarBudget + `, ` + fmt.Sprint(ledger.SlotOf(time.Now().Add(48*time.Hour))) + `, 4)`, []ledger.Kind{ledger.SlotDiffers}, 4},
		"a row's cost":          {`UPDATE ends SET cost = cost + 11 WHERE seq = ` + anEnd, []ledger.Kind{ledger.ChargeDiffers, ledger.CostDiffers, ledger.HourDiffers, ledger.MonthDiffers}, -11},
		"a row's tokens":        {`UPDATE ends SET input = input + 2 WHERE seq = ` + anEnd, []ledger.Kind{ledger.ChargeDiffers, ledger.CostDiffers, ledger.HourDiffers}, -2},
		"a row's charge":        {`UPDATE ends SET charges = '[[' || ` + dollarBudget + ` || ',1,1]]' WHERE seq = ` + anEnd, []ledger.Kind{ledger.ChargeDiffers, ledger.MonthDiffers, ledger.SlotDiffers}, 0},
		"a row without charges": {`UPDATE ends SET charges = '[]' WHERE seq = ` + anEnd, []ledger.Kind{ledger.SlotDiffers}, 0},
		"a reservation":         {`UPDATE begins SET reserved = reserved + 3 WHERE id = (SELECT MIN(id) FROM begins)`, []ledger.Kind{ledger.ReserveDiffers}, -3},
		"a cost of nothing":     {`UPDATE ends SET cost = 5 WHERE seq = (SELECT MIN(seq) FROM ends WHERE basis = 'nothing' AND id NOT IN (SELECT id FROM corrections))`, []ledger.Kind{ledger.HourDiffers, ledger.NothingCosts}, -5},
		"a correction's cost":   {`UPDATE corrections SET cost = cost + 13 WHERE seq = ` + aCorrection, []ledger.Kind{ledger.ChargeDiffers, ledger.CostDiffers, ledger.HourDiffers, ledger.MonthDiffers}, -13},
		"a correction's basis":  {`UPDATE corrections SET was = 'distrusted' WHERE seq = (SELECT MIN(seq) FROM corrections)`, []ledger.Kind{ledger.BasisDiffers, ledger.HourDiffers}, 0},
		"an end that is gone":   {`DELETE FROM ends WHERE seq = ` + anEnd, []ledger.Kind{ledger.HourDiffers, ledger.NeverEnds, ledger.SlotDiffers}, 0},
		"a begin that is gone":  {`DELETE FROM begins WHERE id = (SELECT id FROM ends WHERE seq = ` + anEnd + `)`, []ledger.Kind{ledger.EndWithoutBegin, ledger.HourDiffers, ledger.SlotDiffers}, 0},
		"a draw of nothing":     {`INSERT INTO draws VALUES (77, 1, 1, 1, '', 1, '[]')`, []ledger.Kind{ledger.DrawWithoutBegin}, 0},
		"a correction of nothing": {
			`INSERT INTO corrections VALUES (88, 77, 1, 'm', '', '', 'nothing', 'nothing', 0, 0, 0, 0, 0, '', 0, '[]', '')`, []ledger.Kind{ledger.CorrectionOfNoEnd}, 0,
		},
		"an open exchange that its writer has forgotten": {`UPDATE writers SET oldest = 0`, []ledger.Kind{ledger.NeverEnds}, 0},
		"a second end": {
			`CREATE TABLE copy AS SELECT * FROM ends; DROP TABLE ends; ALTER TABLE copy RENAME TO ends;
			INSERT INTO ends SELECT seq + 1, id, status, ending, basis, served, input, cached, cache_write, output, reasoning, other, cost, took, first_token, upstream_id, charges
				FROM ends WHERE seq = ` + anEnd, []ledger.Kind{ledger.TwoEnds}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := whole.copied(t)
			k.sql(one.sql)
			r := k.report(ledger.VerifyOptions{})
			kinds := map[ledger.Kind]bool{}
			for i, d := range r.Differences {
				if d.Kind.Means() == "" {
					t.Errorf("%q means nothing", d.Kind)
				}
				if !kinds[d.Kind] && d.Kind == one.kinds[0] && one.by != 0 && d.Is-d.Should != one.by {
					t.Errorf("difference %d is of %d, want %d: %+v", i, d.Is-d.Should, one.by, d)
				}
				kinds[d.Kind] = true
			}
			if diff := cmp.Diff(slices.Sorted(slices.Values(one.kinds)), slices.Sorted(maps.Keys(kinds))); diff != "" {
				t.Errorf("kinds (want, got):\n%s\n%+v", diff, r.Differences)
			}
		})
	}
}

// TestManyDifferencesAreCounted: the list is bounded, and says by how many.
func TestManyDifferencesAreCounted(t *testing.T) {
	k := newKeeper(t, 5, 3)
	k.work(200, time.Now().Add(-2*time.Hour), 2*time.Hour)
	k.commit(true)
	k.sql(`UPDATE spent SET n = n + 1`)
	all := k.report(ledger.VerifyOptions{})
	few := k.report(ledger.VerifyOptions{MostDifferences: 4})
	if len(all.Differences) < 50 || len(few.Differences) != 4 || few.Further != int64(len(all.Differences))-4 {
		t.Errorf("%d of %d; %d and %d further", len(few.Differences), len(all.Differences), few.Further, all.Further)
	}
}

// TestMonthsSayWhoWasNotCharged: a budget that counts only some models, one that came later, and one that was away for a
// while are no differences, and can be told from one that is charged by all.
func TestMonthsSayWhoWasNotCharged(t *testing.T) {
	k := newKeeper(t, 1, 1)
	at := time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	month, day := ledger.Budget{Name: "key k0: dollars each month", Unit: "dollars"}, ledger.Budget{Name: "key k0: dollars each day", Unit: "dollars"}
	call := func(dollars cost.NanoUSD, budgets ...ledger.Budget) ledger.ID {
		at = at.Add(time.Second)
		usage := cost.Usage{Input: 5}
		b := &ledger.Begin{Exchange: k.id(at), Series: ledger.Series{Key: "k0"}, Model: "m", Most: usage, Reserved: dollars}
		e := &ledger.End{Exchange: b.Exchange, Basis: ledger.Reported, Usage: usage, Cost: dollars}
		for _, budget := range budgets {
			b.Charges = append(b.Charges, ledger.Charge{Budget: budget, N: int64(dollars)})
			e.Charges = append(e.Charges, ledger.Charge{Budget: budget, N: int64(dollars)})
		}
		e.Seq = k.id(at)
		k.batch.Begins, k.batch.Ends = append(k.batch.Begins, b), append(k.batch.Ends, e)
		return b.Exchange
	}
	call(1, month)
	call(2, month)
	call(0, month)
	call(4, month, day)
	away := call(8, month)
	call(16, month)
	call(32, month, day)
	call(64, month)
	at = at.Add(30 * 24 * time.Hour)
	call(128, month, day)
	k.commit(false)
	want := []ledger.Month{
		{Key: "k0", Begin: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Exchanges: 7, Cost: 127, Budgets: []ledger.MonthBudget{
			{Budget: day.Name, Charged: 36, Rows: 2, Before: 2, Between: 2, After: 1, Uncharged: away},
			{Budget: month.Name, Charged: 127, Rows: 7},
		}},
		{Key: "k0", Begin: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), Exchanges: 1, Cost: 128, Budgets: []ledger.MonthBudget{
			{Budget: day.Name, Charged: 128, Rows: 1},
			{Budget: month.Name, Charged: 128, Rows: 1},
		}},
	}
	if diff := cmp.Diff(want, k.wantBalance("months").Months); diff != "" {
		t.Errorf("want, got:\n%s", diff)
	}
}

// TestNamesThatWereSummedUp: of a key that uses more names in an hour than are kept, sums are compared by series.
func TestNamesThatWereSummedUp(t *testing.T) {
	k := newKeeper(t, 1, 1)
	at := time.Now().Add(-3 * time.Hour).Truncate(time.Hour)
	for i := range 600 {
		b := k.begin(at)
		b.Label = fmt.Sprint("label ", i)
		k.end(b, at)
	}
	k.commit(true)
	r := k.wantBalance("600 labels")
	if r.Hours > 1100 {
		t.Errorf("%d sums: nothing was summed up", r.Hours)
	}
	k.sql(`UPDATE hours SET cost = cost + 1 WHERE label = '(other)'`, `UPDATE days SET cost = cost + 1 WHERE label = '(other)'`)
	r = k.report(ledger.VerifyOptions{})
	if len(r.Differences) == 0 || r.Differences[0].Kind != ledger.HourDiffers || r.Differences[0].Names.Label != "" || r.Differences[0].Figure != "cost" {
		t.Errorf("%+v", r.Differences)
	}
}
