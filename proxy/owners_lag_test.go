package proxy

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// gated is a store whose commits wait as long as somebody holds the gate.
type gated struct {
	ledger.Store
	gate sync.Mutex
}

func (g *gated) Commit(ctx context.Context, b *ledger.Batch) error {
	g.gate.Lock()
	defer g.gate.Unlock()
	return g.Store.Commit(ctx, b)
}

// TestWhatHasEndedCountsBeforeItIsCommitted: in a process that did not make the conversation, too.
func TestWhatHasEndedCountsBeforeItIsCommitted(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "usage.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	g := &gated{Store: store}
	w, _, err := ledger.Open(t.Context(), g, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	defer func() { stop(); <-ended }()

	row := ledger.Owned{ID: "conv_1", Kind: ledger.Conversation, Key: "alice", Upstream: "up", Made: time.Now()}
	made := row
	if err := (&owners{writer: w}).add(append([]*ledger.Owned{&made}, sizes(&made, 0)...)).Stored(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := &owners{writer: w} // of the process after it
	for i := range int64(2) {
		a := next.join(row.ID)
		if err := a.begin(t.Context(), 3000, false, &row); err != nil {
			t.Fatal(err)
		}
		g.gate.Lock()
		last := a.end(3000, 0)
		found, err := next.find(t.Context(), "alice", []string{row.ID, row.ID + begunRow, row.ID + endedRow, row.ID + moreRow})
		if n := found[row.ID].Tokens + mayHave(found, row.ID); err != nil || n < 3000*(i+1) {
			t.Errorf("addition %d: %d tokens, %v", i, n, err)
		}
		g.gate.Unlock()
		if err := last.Stored(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
