package limitbench

import (
	"sync"
	"sync/atomic"
	"time"
)

// cas is the least a limiter can do: one word that says when the bucket is
// full again, and the clock. It is a yardstick, not a limiter to use: units
// are whole nanoseconds, nothing can be reserved, and no rule ever changed.
type cas struct {
	base time.Time
	each int64 // nanoseconds a unit
	most int64 // nanoseconds the bucket holds
	word *atomic.Int64

	mu    *sync.RWMutex
	words map[string]*atomic.Int64
}

func newCAS(limit int64, each time.Duration) contender {
	return &cas{
		base:  time.Now(),
		each:  int64(each),
		most:  limit * int64(each),
		word:  new(atomic.Int64),
		mu:    new(sync.RWMutex),
		words: make(map[string]*atomic.Int64),
	}
}

func (c *cas) take(word *atomic.Int64) bool {
	for {
		now := int64(time.Since(c.base))
		old := word.Load()
		full := max(old, now) + c.each
		if full-now > c.most {
			return false
		}
		if word.CompareAndSwap(old, full) {
			return true
		}
	}
}

func (c *cas) one(n int) (passed int) {
	for range n {
		if c.take(c.word) {
			passed++
		}
	}
	return passed
}

func (c *cas) named(names []string) (passed int) {
	for _, name := range names {
		if c.take(lookUp(c.mu, c.words, name, func() *atomic.Int64 { return new(atomic.Int64) })) {
			passed++
		}
	}
	return passed
}

// lookUp is how programs keep limiters that come without a store: a map behind
// a lock that many may read at a time.
func lookUp[L any](mu *sync.RWMutex, m map[string]L, name string, fresh func() L) L {
	mu.RLock()
	l, ok := m[name]
	mu.RUnlock()
	if ok {
		return l
	}
	mu.Lock()
	defer mu.Unlock()
	if l, ok = m[name]; !ok {
		l = fresh()
		m[name] = l
	}
	return l
}
