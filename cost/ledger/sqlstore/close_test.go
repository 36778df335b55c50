package sqlstore_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// A write that hangs holds up nobody for longer than they want to wait: neither another write nor the end of the process.
func TestAWriteThatHangs(t *testing.T) {
	f := fleet(filepath.Join(t.TempDir(), "usage.db"))
	s, err := sqlite.Open(t.Context(), string(f))
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	store := f.Open(t)
	past, err := store.Resume(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := f.connect(t, "_txlock=immediate")
	defer other.Close()
	inTheWay, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer inTheWay.Rollback()

	hangs := make(chan error, 1)
	go func() {
		hangs <- store.Commit(context.WithoutCancel(t.Context()), &ledger.Batch{Slot: past.Slot, Number: past.Batch + 1})
	}()
	<-time.After(100 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := store.Prune(ctx, time.Now(), 10); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("prune behind a commit that hangs: %v, want its context's error", err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("prune waited for %v, and was to wait for 100 ms", took)
	}
	began = time.Now()
	if err := store.Close(); err == nil {
		t.Error("close says nothing of a commit that hangs")
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("close waited for %v", took)
	}
	if err := inTheWay.Rollback(); err != nil {
		t.Error(err)
	}
	<-hangs // whatever came of it
}
