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
	limited, cancel := context.WithTimeout(ctx, aloneTime)
	defer cancel()
	refused := func(err error) (func(), error) {
		if limited.Err() != nil && ctx.Err() == nil {
			return nil, errors.New("correct ledger: another process that shares it has been correcting it for " + aloneTime.String() +
				", or reports have taken all connections; try again when they have ended")
		}
		return nil, fmt.Errorf("correct ledger: %w", s.dialect.Explain(err))
	}
	conn, err := s.read.Conn(limited)
	if err != nil {
		return refused(err)
	}
	tx, err := conn.BeginTx(context.WithoutCancel(ctx), nil) // outlasts who asks, until what he has queued is written
	if err != nil {
		conn.Close()
		return refused(err)
	}
	release = sync.OnceFunc(func() {
		tx.Rollback() //nolint:errcheck // it has changed nothing
		conn.Close()
	})
	if err := s.dialect.Correcting(limited, tx); err != nil {
		release()
		return refused(err)
	}
	return release, nil
}
