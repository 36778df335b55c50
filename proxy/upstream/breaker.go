package upstream

import (
	"sync"
	"time"
)

const (
	enough      = 3                // failures in a row after which an upstream rests
	firstRest   = 5 * time.Second  // and for how long
	longestRest = time.Minute      // to which that doubles, each time the call fails that finds out whether it is well again
	shortFull   = time.Second      // for how long an upstream that is full is left alone which does not say
	longestFull = 30 * time.Second // and which says more than this
)

// breaker remembers how the latest calls to an upstream went, so that others are asked while it is not well. It is passive: it
// makes no calls of its own. It is safe for concurrent use.
type breaker struct {
	mu      sync.Mutex
	failed  int           // guarded by mu; calls in a row
	rest    time.Duration // guarded by mu; how long it rested last; 0 while it is well
	until   time.Time     // guarded by mu; it rests, or has no room, until then
	probing bool          // guarded by mu; a call is under way that will tell whether it is well again
}

// Ready reports whether the upstream is to be asked before those that are not. One that failed is not ready while it rests; then
// one call finds out whether it is well again.
func (u *Upstream) Ready() bool {
	b := &u.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	return !time.Now().Before(b.until)
}

// Sending says that a call is about to be sent. From an upstream that has rested, others keep away until it is known how that went.
func (u *Upstream) Sending() {
	b := &u.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rest == 0 {
		return
	}
	if now := time.Now(); !now.Before(b.until) {
		b.probing, b.until = true, now.Add(b.rest)
	}
}

// Served says that the upstream took a call, whatever became of it.
func (u *Upstream) Served() {
	b := &u.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rest > 0 {
		b.until = time.Time{}
	}
	b.failed, b.rest, b.probing = 0, 0, false
}

// Full says that the upstream had no room for a call, and when it says that it will have some; 0 where it does not.
func (u *Upstream) Full(wait time.Duration) {
	if wait <= 0 {
		wait = shortFull
	}
	b := &u.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed, b.rest, b.probing = 0, 0, false
	b.until = time.Now().Add(min(wait, longestFull))
}

// Failed says that the upstream did not take a call. It returns for how long the upstream rests, if that begins now; else 0.
func (u *Upstream) Failed() time.Duration {
	b := &u.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed++
	if b.failed < enough || b.rest > 0 && !b.probing { // in the latter case it was sent before the rest began, or as all were resting
		return 0
	}
	b.probing = false
	b.rest = min(max(firstRest, 2*b.rest), longestRest)
	b.until = time.Now().Add(b.rest)
	return b.rest
}

// Inherit takes over what is known of the health of the same upstream under an earlier configuration.
func (u *Upstream) Inherit(from *Upstream) {
	if *u.base != *from.base || u.key != from.key {
		return
	}
	b, old := &u.breaker, &from.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	old.mu.Lock()
	defer old.mu.Unlock()
	b.failed, b.rest, b.until, b.probing = old.failed, old.rest, old.until, old.probing
}
