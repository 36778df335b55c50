package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy"
)

// books is the ledger of a running program: its store, and the writer that keeps it. A nil *books records nothing.
type books struct {
	store  ledger.Store
	writer *ledger.Writer
	opened time.Time          // before anything was read from it
	stop   context.CancelFunc // nil: the writer does not run yet
	ended  chan struct{}      // closed when the writer runs no longer
	err    error              // why; to be read after that
}

// openBooks opens the ledger, and charges what a crash has left unfinished.
func openBooks(ctx context.Context, c LedgerConfig, log *slog.Logger) (*books, error) {
	if c.URL == "" {
		return nil, nil //nolint:nilnil // nothing is recorded
	}
	opened := time.Now()
	store, err := openLedger(ctx, c.URL, log)
	if err != nil {
		return nil, err
	}
	journal, err := c.journal(ctx, store)
	if err != nil {
		store.Close()
		return nil, err
	}
	w, crashed, err := ledger.Open(ctx, store, ledger.Options{
		Serve: c.Serve, Keep: c.Keep, RollIdle: c.rollIdle(), Late: c.late(), Journal: journal, Log: log,
	})
	if err != nil {
		store.Close()
		return nil, err
	}
	if crashed > 0 {
		log.Warn("ledger", "unfinished_calls", crashed, "charged", "all they had reserved, as nobody knows how they ended")
	}
	return &books{store: store, writer: w, opened: opened, ended: make(chan struct{})}, nil
}

// ledger is the writer, nil if nothing is recorded.
func (b *books) ledger() *ledger.Writer {
	if b == nil {
		return nil
	}
	return b.writer
}

// run starts the writer. It goes on until close, whatever happens to ctx: what ends at the end is to be recorded, too.
func (b *books) run(ctx context.Context) {
	if b == nil {
		return
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	b.stop = stop
	go func() {
		defer close(b.ended)
		b.err = b.writer.Run(running)
	}()
}

// lost is closed when the writer has ended by itself: others took it for dead and charged what it had open, or the ledger was
// replaced. Nothing more can be recorded then.
func (b *books) lost() <-chan struct{} {
	if b == nil {
		return nil
	}
	return b.ended
}

// close writes what is left, and closes the store.
func (b *books) close() error {
	if b == nil {
		return nil
	}
	var err error
	if b.stop != nil {
		b.stop()
		<-b.ended
		err = b.err
	}
	if closing := b.store.Close(); err == nil {
		err = closing
	}
	return err
}

// restoreTime bounds how long rebuilding budgets may take.
const restoreTime = 10 * time.Minute

// restore rebuilds the budgets of a policy that are not counted yet.
func (a *app) restore(ctx context.Context, p *proxy.Policy) error {
	if a.books == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, restoreTime)
	defer cancel()
	began := time.Now()
	snapshot, err := a.books.store.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	n, err := a.restorer.Restore(ctx, p, snapshot)
	if err == nil && n > 0 {
		a.log.Info("budgets rebuilt from the ledger", "budgets", n, "took_ms", time.Since(began).Milliseconds())
	}
	return err
}
