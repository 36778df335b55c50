package ledger

import (
	"context"
	"time"
)

// emptyStore is a store of nothing, that keeps nothing.
type emptyStore struct{}

func (emptyStore) Resume(context.Context) (*Past, error)              { return &Past{}, nil }
func (emptyStore) Commit(context.Context, *Batch) error               { return nil }
func (emptyStore) Prune(context.Context, time.Time, int) (int, error) { return 0, nil }
func (emptyStore) Snapshot(context.Context) (Snapshot, error)         { return nil, nil }
func (emptyStore) Close() error                                       { return nil }
