package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

func (s *shop) serveAdmin(h http.Handler) {
	s.admin = httptest.NewServer(h)
	s.t.Cleanup(s.admin.Close)
}

// moody is a store that cannot be written at times, or shows a ledger of before.
type moody struct {
	ledger.Store
	full atomic.Bool
	old  atomic.Pointer[ledger.Snapshot]
}

func (m *moody) Commit(ctx context.Context, b *ledger.Batch) error {
	if m.full.Load() && len(b.Corrections) > 0 {
		return errors.New("the disk is full")
	}
	return m.Store.Commit(ctx, b)
}

func (m *moody) Snapshot(ctx context.Context) (ledger.Snapshot, error) {
	if old := m.old.Load(); old != nil {
		return kept{*old}, nil
	}
	return m.Store.Snapshot(ctx)
}

// kept is a snapshot that is used again.
type kept struct{ ledger.Snapshot }

func (kept) Close() error { return nil }

// tally is an amendment of one sum.
type tally struct {
	to  *int64
	sum int64
}

func (y *tally) Read(_ context.Context, _ ledger.Snapshot, list []*ledger.Correction) error {
	for _, one := range list {
		for _, charge := range one.Charges {
			y.sum += charge.N
		}
	}
	return nil
}

func (y *tally) Apply() error {
	*y.to += y.sum
	return nil
}

// TestCorrectionsThatWait: what is queued while the ledger cannot be written is not made twice, and budgets follow once.
func TestCorrectionsThatWait(t *testing.T) {
	file, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "usage.db"))
	if err != nil {
		t.Fatal(err)
	}
	store := &moody{Store: file}
	w, _, err := ledger.Open(t.Context(), store, ledger.Options{Patience: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	b := &books{store: store, writer: w, ended: make(chan struct{})}
	b.run(t.Context())
	defer b.close()
	id := w.IDs().Next()
	budget := ledger.Budget{Name: "b", Unit: "tokens"}
	w.Begin(&ledger.Begin{Exchange: id, Most: cost.Usage{Input: 9}, Charges: []ledger.Charge{{Budget: budget, N: 9}}})
	if err := w.End(&ledger.End{Exchange: id, Basis: ledger.Unreported, Usage: cost.Usage{Input: 9}, Charges: []ledger.Charge{{Budget: budget, N: 9}}}).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	var live int64
	c := corrector{store: store, writer: w, live: func() (amendment, error) { return &tally{to: &live}, nil }}
	correct := func(figure string) (*corrected, error) {
		return c.correct(t.Context(), corrections{Reason: "r", Corrections: []revision{{ID: id.String(), Charge: figure}}})
	}

	before, err := file.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	store.full.Store(true)
	if _, err := correct(chargeNothing); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("while the disk is full: %v", err)
	}
	if _, err := correct(chargeNothing); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("still: %v", err)
	}
	store.full.Store(false)
	store.old.Store(&before)
	for w.Err() != nil {
		<-time.After(time.Millisecond)
	}
	if _, err := correct(chargeNothing); !errors.Is(err, errUnsure) {
		t.Errorf("while the correction cannot be seen: %v", err)
	}
	store.old.Store(nil)
	if err := before.Close(); err != nil {
		t.Error(err)
	}
	made, err := correct(chargeNothing)
	if err != nil || len(made.Corrected) != 0 || len(made.Unchanged) != 1 {
		t.Errorf("when it can be: %+v, %v", made, err)
	}
	if live != -9 {
		t.Errorf("budgets were corrected by %d, want -9", live)
	}
	if made, err = correct(chargeCounted); err != nil || len(made.Corrected) != 1 || live != 0 {
		t.Errorf("the next: %+v, %v, budgets by %d", made, err, live)
	}
}
