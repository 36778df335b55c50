package proxy

import (
	"context"
	"sync"
	"time"
)

// Bounds of what one key may have waiting for its turn.
const (
	mostWaiting = 8
	longestTurn = 10 * time.Second
)

// turns lets each key do one thing at a time. It holds nothing of keys that do nothing.
type turns struct {
	mu sync.Mutex
	of map[string]*turn // guarded by mu
}

type turn struct {
	place chan struct{} // held by whoever's turn it is
	users int           // guarded by the mutex of turns; that have the turn or wait for it
}

// take waits for a key's turn, which lasts until done is called. It reports false, and has nothing to be done, if too many wait
// already, if it takes too long, or if ctx ends.
func (t *turns) take(ctx context.Context, key string) (done func(), ok bool) {
	t.mu.Lock()
	mine := t.of[key]
	if mine == nil {
		if t.of == nil {
			t.of = make(map[string]*turn)
		}
		mine = &turn{place: make(chan struct{}, 1)}
		t.of[key] = mine
	}
	full := mine.users > mostWaiting
	if !full {
		mine.users++
	}
	t.mu.Unlock()
	if full {
		return nil, false
	}
	late := time.NewTimer(longestTurn)
	defer late.Stop()
	select {
	case mine.place <- struct{}{}:
		return func() {
			<-mine.place
			t.leave(key, mine)
		}, true
	case <-late.C:
	case <-ctx.Done():
	}
	t.leave(key, mine)
	return nil, false
}

func (t *turns) leave(key string, mine *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine.users--; mine.users == 0 {
		delete(t.of, key)
	}
}
