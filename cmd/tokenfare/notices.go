package main

import (
	"context"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy/notify"
)

// newNotifier tells people of the budgets of a program, and of none twice that the ledger says they were told of.
func newNotifier(a *app) (*notify.Notifier, error) {
	o := notify.Options{Quotas: a.server, Registry: a.registry, Log: a.log}
	if a.books != nil {
		o.Ledger = noticeBook{a.books}
	}
	n, err := notify.New(o)
	if err != nil {
		return nil, err
	}
	n.Set(a.config.notices())
	return n, nil
}

// noticeBook is the part of the ledger that says of what people were told.
type noticeBook struct{ *books }

// toldTime bounds how long reading it may take.
const toldTime = 10 * time.Second

// Told implements notify.Ledger.
func (b noticeBook) Told(ctx context.Context) ([]ledger.Notice, error) {
	ctx, cancel := context.WithTimeout(ctx, toldTime)
	defer cancel()
	snapshot, err := b.store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	return snapshot.Notices(ctx)
}

// Tell implements notify.Ledger.
func (b noticeBook) Tell(n ledger.Notice) { b.writer.Notify(n) }

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
