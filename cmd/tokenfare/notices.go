package main

import (
	"context"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy/notify"
)

// newNotifier tells people of the budgets of a program, and of none twice that the ledger says they were told of.
func newNotifier(ctx context.Context, a *app) (*notify.Notifier, error) {
	o := notify.Options{Quotas: a.server, Registry: a.registry, Log: a.log}
	if a.books != nil {
		told, err := a.books.told(ctx)
		if err != nil {
			return nil, err
		}
		o.Told = told
		o.Remember = func(n ledger.Notice) { a.books.writer.Notify(n) }
	}
	n, err := notify.New(o)
	if err != nil {
		return nil, err
	}
	n.Set(a.config.notices())
	return n, nil
}

// told reads of what people were told.
func (b *books) told(ctx context.Context) ([]ledger.Notice, error) {
	snapshot, err := b.store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	return snapshot.Notices(ctx)
}

// tell starts telling people. It goes on until stop is called, whatever happens to ctx: what is settled while the program drains
// is to be told, too. stop returns when nobody is being told any more.
func (a *app) tell(ctx context.Context) (stop func()) {
	telling, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = a.notifier.Run(telling) // ends without one
	}()
	return func() {
		cancel()
		<-ended
	}
}
