package ledger

import (
	"context"
	"fmt"
	"time"
)

// Ticket tells when a row is durable.
type Ticket struct {
	writer *Writer
	group  *group // nil: the row was lost
	row    int64  // so many rows the group had with it
}

// mostBehind is how long a commit may take while answers leave whose rows are in the journal alone: it bounds what a power loss forgets.
const mostBehind = time.Second

// behind is for how long the commit that runs has run, however often it was tried; 0: none does.
func (w *Writer) behind() time.Duration {
	if began := w.committing.Load(); began != nil {
		return time.Since(*began)
	}
	return 0
}

// Lost reports that the row will never be recorded.
func (t Ticket) Lost() bool { return t.group == nil }

// Wait returns nil when the row outlasts the process, or when its ledger serves without: once it is in the [Journal], where there is one,
// and the store is not far behind, else when it is in the store. Otherwise it returns an error that matches [ErrUnavailable] once the writer's patience has ended, or
// ctx's error. The row may become durable all the same.
func (t Ticket) Wait(ctx context.Context) error {
	if t.group == nil || t.group.settled.Load() {
		return nil
	}
	o := &t.writer.options
	if o.Journal == nil || o.Serve && t.writer.failing.Load() != nil || t.writer.behind() > mostBehind {
		return t.Stored(ctx)
	}
	if t.group.kept.Load() >= t.row {
		return nil
	}
	patience := time.NewTimer(o.Patience)
	defer patience.Stop()
	switch kept, over := t.kept(ctx, patience.C); {
	case kept:
		return nil
	case over:
		return t.over()
	}
	return t.stored(ctx, patience.C)
}

// Stored is like Wait, but returns when the row is in the store, where readers find it.
func (t Ticket) Stored(ctx context.Context) error {
	if t.group == nil || t.group.settled.Load() {
		return nil
	}
	patience := time.NewTimer(t.writer.options.Patience)
	defer patience.Stop()
	return t.stored(ctx, patience.C)
}

func (t Ticket) stored(ctx context.Context, patience <-chan time.Time) error {
	if !t.group.taken.Load() {
		rouse(t.writer.wake)
	}
	var alarm chan struct{}
	if t.writer.options.Serve {
		alarm = *t.writer.alarm.Load()
		if t.writer.failing.Load() != nil {
			return nil
		}
	}
	select {
	case <-t.group.done:
		return nil
	case <-alarm:
		return nil
	case <-patience:
	case <-ctx.Done():
		return ctx.Err()
	}
	return t.over()
}

// over is what a ticket says when its patience is over.
func (t Ticket) over() error {
	if t.writer.options.Serve {
		return nil
	}
	if err := t.writer.Err(); err != nil {
		return err
	}
	return fmt.Errorf("%w: it has not answered for %s", ErrUnavailable, t.writer.options.Patience)
}
