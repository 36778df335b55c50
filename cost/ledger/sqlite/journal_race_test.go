package sqlite_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// Rows are written to the journal by those who wait for them, and to the store beside: with the race detector, this tells whether one
// changes what another reads.
func TestManyWaitWhileRowsAreWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.db")
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	j, err := sqlite.Journal(t.Context(), store, path)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := ledger.Open(t.Context(), store, ledger.Options{Journal: j, Late: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	budget := ledger.Budget{Name: "key a: 1 token", Unit: "tokens"}
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for range 300 {
				b := &ledger.Begin{Exchange: w.IDs().Next(), Series: ledger.Series{Key: "a"}, Model: "m", Most: cost.Usage{Input: 3}, Charges: []ledger.Charge{{Budget: budget, N: 3}}}
				ticket := w.Begin(b)
				w.Price(ledger.PriceCard{Version: "v", Card: "{}"})
				if err := ticket.Wait(t.Context()); err != nil {
					t.Error(err)
				}
				w.Refused("a", "m", "code")
				w.End(&ledger.End{Exchange: b.Exchange, Ending: "complete", Basis: ledger.Reported, Usage: cost.Usage{Input: 2}, Charges: []ledger.Charge{{Budget: budget, N: 2}}})
			}
		})
	}
	callers.Wait()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
