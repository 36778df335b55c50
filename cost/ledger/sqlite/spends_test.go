package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// What a crash leaves behind is not in the sums yet. A budget of a short period, which is rebuilt from rows, must count it
// once.
func TestSpendsOfALeftTailAreCountedOnce(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "usage.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	past, err := store.Resume(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ids := ledger.NewIDs(past.Slot, past.Last)
	id, seq := ids.Next(), ids.Next()
	charges := []ledger.Charge{{Budget: ledger.Budget{Name: "key alice: tokens per minute", Unit: "tokens"}, N: 100, Late: 7}}
	err = store.Commit(t.Context(), &ledger.Batch{
		Slot: past.Slot, Number: past.Batch + 1,
		Begins: []*ledger.Begin{{Exchange: id, Charges: charges}},
		Ends:   []*ledger.End{{Exchange: id, Seq: seq, Basis: ledger.Reported, Charges: charges}},
	})
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	for _, ago := range []time.Duration{time.Second, time.Minute, 7 * time.Minute, 59 * time.Minute, 2 * time.Hour, 25 * time.Hour} {
		for _, detail := range []ledger.Detail{ledger.ByRow, ledger.BySlot, ledger.Sum} {
			want := ledger.Want{Budget: charges[0].Budget.Name, Since: time.Now().Add(-ago), Detail: detail}
			var sum int64
			err := snapshot.Spends(t.Context(), []ledger.Want{want}, func(_ int, at time.Time, n int64) error {
				sum += n
				if detail == ledger.ByRow && at.After(time.Now()) {
					t.Errorf("since %s: %d spent at %s, which is yet to come", ago, n, at)
				}
				return nil
			})
			if err != nil || sum != 107 {
				t.Errorf("since %s, detail %d: %d spent (%v), want 107", ago, detail, sum, err)
			}
		}
	}
}
