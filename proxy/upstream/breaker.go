package upstream

import (
	"sync"
	"time"
)

const (
	enough      = 3                // failures in a row after which an upstream rests
	firstRest   = 5 * time.Second  // and for how long
	longestRest = time.Minute      // to which that doubles, each time the call fails that finds out whether it is well again
	shortFull   = time.Second      // for how long an upstream that is full is left alone at least
	longestFull = 30 * time.Second // and at most
	mostFull    = 1000             // models of which that is remembered
	patience    = 5 * time.Second  // a client that has waited for less, and leaves, says nothing of the upstream
)

// breaker remembers how the latest calls to an upstream went, so that others are asked while it is not well. It is passive: it
// makes no calls of its own. It is safe for concurrent use.
type breaker struct {
	mu      sync.Mutex
	failed  int                  // guarded by mu; calls in a row
	served  time.Time            // guarded by mu; when it last took a call
	rest    time.Duration        // guarded by mu; how long it rested last; 0 while it is well
	until   time.Time            // guarded by mu; it rests until then
	probing bool                 // guarded by mu; a call is under way that will tell whether it is well again
	full    map[string]time.Time // guarded by mu; for which models it has no room, and until when: providers count each by itself
}

// Ready reports whether the upstream is to be asked for a model before those that are not. One that failed is not ready while it
// rests; then one call finds out whether it is well again.
func (u *Upstream) Ready(model string) bool {
	b := u.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	return !now.Before(b.until) && !now.Before(b.full[model])
}

// Sending says that a call is about to be sent. From an upstream that has rested, others keep away until it is known how that went.
// Where nothing is heard of that call for as long as the upstream has rested, the next is sent, and is given twice the time: one that
// hangs must not get a call every few seconds that waits for it as long as calls may.
func (u *Upstream) Sending() {
	b := u.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rest == 0 {
		return
	}
	if now := time.Now(); !now.Before(b.until) {
		if b.probing {
			b.rest = min(2*b.rest, longestRest)
		}
		b.probing, b.until = true, now.Add(b.rest)
	}
}

// Served says that the upstream took a call, whatever became of it.
func (u *Upstream) Served() {
	b := u.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	b.well()
}

// well forgets all failures.
func (b *breaker) well() {
	b.failed, b.rest, b.probing, b.until, b.served = 0, 0, false, time.Time{}, time.Now()
}

// Full says that the upstream had no room for a call, and when it says that it will have some; 0 where it does not.
func (u *Upstream) Full(model string, wait time.Duration) {
	wait = min(max(wait, shortFull), longestFull)
	b := u.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	b.well()
	now := time.Now()
	if len(b.full) >= mostFull {
		clear(b.full)
	}
	if b.full == nil {
		b.full = map[string]time.Time{}
	}
	if until := now.Add(wait); until.After(b.full[model]) {
		b.full[model] = until
	}
}

// Unclear says that a call failed for reasons that may be its own. An upstream that rests goes on resting.
func (u *Upstream) Unclear() {
	b := u.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}

// Failed says that the upstream did not take a call. It returns for how long the upstream rests, if that begins now; else 0.
func (u *Upstream) Failed() time.Duration { return u.breaker.fails(1) }

// Hung says that the upstream did not begin to answer a call within its time, which is long: nobody else is to wait for it as
// long, so once is enough. It returns what Failed does.
func (u *Upstream) Hung() time.Duration { return u.breaker.fails(enough) }

// Left says that a client has left a call, sent at that time, that was not answered. An upstream that takes calls and answers none would
// not rest else, as clients give up sooner than we do. That is a failure if the client had some patience and nobody was served meanwhile. It
// returns what Failed does.
func (u *Upstream) Left(sent time.Time) time.Duration {
	b := u.breaker
	b.mu.Lock()
	served := b.served
	b.mu.Unlock()
	if time.Since(sent) < patience || served.After(sent) {
		return 0
	}
	return b.fails(1)
}

// fails counts so many failures.
func (b *breaker) fails(n int) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed += n
	if b.failed < enough || b.rest > 0 && !b.probing { // in the latter case it was sent before the rest began, or as all were resting
		return 0
	}
	b.probing = false
	b.rest = min(max(firstRest, 2*b.rest), longestRest)
	b.until = time.Now().Add(b.rest)
	return b.rest
}

// Inherit takes over what is known, and what calls that still run will tell, of the health of the same upstream under an earlier
// configuration. It is for before the first call.
func (u *Upstream) Inherit(from *Upstream) {
	if *u.base == *from.base && u.key == from.key {
		u.breaker = from.breaker
	}
}
