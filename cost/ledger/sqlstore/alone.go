package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// aloneTime is how long Alone waits for others.
const aloneTime = 20 * time.Second

// Alone waits, for twenty seconds at most, until no other process corrects this ledger, and keeps all others from it until the
// release, which can be called again: corrections are worked out from what those before have left, and two that are worked out from
// the same would take the same off twice. It is safe for concurrent use.
func (s *Store) Alone(ctx context.Context) (release func(), err error) {
	if s.dialect.Pace().Beat == 0 {
		return func() {}, nil // nobody else writes
	}
	tx, err := s.read.BeginTx(context.WithoutCancel(ctx), nil) // outlasts who asks, until what he has queued is written
	if err != nil {
		return nil, fmt.Errorf("correct ledger: %w", s.dialect.Explain(err))
	}
	limited, cancel := context.WithTimeout(ctx, aloneTime)
	defer cancel()
	if err := s.dialect.Correcting(limited, tx); err != nil {
		tx.Rollback() //nolint:errcheck // it has changed nothing
		if limited.Err() != nil && ctx.Err() == nil {
			return nil, errors.New("correct ledger: another process that shares it has been correcting it for " + aloneTime.String() + "; try again when it has ended")
		}
		return nil, fmt.Errorf("correct ledger: %w", s.dialect.Explain(err))
	}
	return sync.OnceFunc(func() { tx.Rollback() }), nil //nolint:errcheck // it has changed nothing
}
