package ledger

import (
	"context"
	"fmt"
	"time"
)

// ObjectKind is what an object is that a provider stores.
type ObjectKind string

// The kinds of objects. Responses, their items, completions and containers are forgotten after [OwnedFor]; what is in a conversation, and
// all others, when they are deleted.
const (
	Response         ObjectKind = "response"
	Item             ObjectKind = "item" // of a response
	Completion       ObjectKind = "completion"
	Conversation     ObjectKind = "conversation"
	ConversationItem ObjectKind = "conversation item"
	File             ObjectKind = "file"
	Container        ObjectKind = "container" // that code ran in
)

// OwnedFor is for how long it is remembered whose a response is, a little longer than OpenAI keeps it.
const OwnedFor = 32 * 24 * time.Hour

// mostRead is how long [Writer.Owned] waits for the store.
const mostRead = 2 * time.Second

// Owned is a row that says whose an object is that a provider stores: of the key that had it made, and of no other. A row
// that is there stays as it is; what becomes of the object, a [Growth] says.
type Owned struct {
	ID       string // the provider's, at most 256 bytes
	Kind     ObjectKind
	Key      string // the name of the key
	Upstream string // where it is
	Of       string // the response or the conversation that it is a part of; empty: it is none
	Made     time.Time
	Tokens   int64 // of the whole context that it brings into a call that names it
}

// Growth is what becomes of an object.
type Growth struct {
	ID     string
	Tokens int64 // that it has more
	Gone   bool  // it is deleted, for good
}

// Lasts reports whether an object of that kind is kept until it is deleted.
func (k ObjectKind) Lasts() bool {
	return k != Response && k != Item && k != Completion && k != Container
}

// Forgotten reports whether the object is so old that nobody knows any more whose it is.
func (o *Owned) Forgotten(now time.Time) bool {
	return !o.Kind.Lasts() && now.Sub(o.Made) >= OwnedFor
}

func (o *Owned) bound() {
	if o.Made.IsZero() {
		o.Made = time.Now()
	}
	o.ID, o.Kind, o.Upstream, o.Of = clean(o.ID), ObjectKind(clean(string(o.Kind))), clean(o.Upstream), clean(o.Of)
	o.Key, o.Tokens = BudgetName(o.Key), max(0, bounded(o.Tokens))
}

// Own queues rows that say whose objects are. They become durable together, and belong to the writer from now on. Where the
// ledger cannot be written and serving goes before recording, they may be lost: then nobody can use the objects.
func (w *Writer) Own(list []*Owned) Ticket {
	for _, o := range list {
		o.bound()
	}
	return w.queue(len(list), func(g *group) {
		g.queued.Owned = append(g.queued.Owned, list...)
		g.rows += len(list) - 1
	})
}

// Grow queues what becomes of objects. The rows belong to the writer from now on.
func (w *Writer) Grow(list []*Growth) Ticket {
	for _, o := range list {
		o.ID, o.Tokens = clean(o.ID), max(0, bounded(o.Tokens))
	}
	return w.queue(len(list), func(g *group) {
		g.queued.Grown = append(g.queued.Grown, list...)
		g.rows += len(list) - 1
	})
}

// Owned reads which of some objects a key owns, as far as that is durable. What others own is not there, and cannot be told
// from what does not exist. It waits for the store, at most two seconds; the error matches [ErrUnavailable].
func (w *Writer) Owned(ctx context.Context, key string, ids []string) ([]Owned, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, mostRead)
	defer cancel()
	s, err := w.store.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer s.Close()
	list, err := s.Owned(ctx, key, ids)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	now, known := time.Now(), list[:0]
	for _, o := range list {
		if !o.Forgotten(now) {
			known = append(known, o)
		}
	}
	return known, nil
}
