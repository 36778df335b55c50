// Package lockfree is a token bucket for hot paths, after "A 120-line lock-free
// token bucket in Rust", and many of them by key, with metrics.
//
// A decision is one compare-and-swap on one word, as long as nobody asks for
// more than TryAcquire; and it is exact: no fraction of a token is ever lost,
// whatever the rate, and no clock wraps around.
package lockfree

import (
	"context"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// Config describes a bucket.
type Config struct {
	Capacity int64         // the largest burst, at least 1
	Refill   int64         // tokens that come back per Every, at least 1
	Every    time.Duration // at least 1 ns; one token a month is 1 per 720h

	// StartEmpty makes the bucket start without a burst.
	StartEmpty bool
}

func (c Config) rule() limiter.TokenBucket {
	return limiter.TokenBucket{Size: c.Capacity, Refill: c.Refill, Every: c.Every, StartEmpty: c.StartEmpty}
}

// Bucket is one bucket. Its methods may be called from any number of
// goroutines.
type Bucket struct{ budget *limiter.Budget }

// New returns a bucket.
func New(c Config) (*Bucket, error) {
	if err := c.rule().Validate(); err != nil {
		return nil, err
	}
	return &Bucket{limiter.NewMemory().Budget("bucket", c.rule())}, nil
}

// TryAcquire takes n tokens, or none and returns false. n may be what the work
// costs: the tokens of a call to a language model, say. The one error is a
// negative n.
func (b *Bucket) TryAcquire(n int64) (bool, error) {
	return b.budget.TryAcquire(context.Background(), n)
}

// Tokens returns how many whole tokens there are.
func (b *Bucket) Tokens() int64 {
	_, s := b.peek(context.Background(), 0)
	return s.Remaining
}

// RetryAfter returns how long it takes until there are n tokens if nobody takes
// any, limiter.Never if the bucket never holds as many. n must not be negative.
func (b *Bucket) RetryAfter(n int64) time.Duration {
	d, _ := b.peek(context.Background(), n)
	return d.RetryAfter
}

func (b *Bucket) peek(ctx context.Context, n int64) (limiter.Decision, limiter.State) {
	charges := []limiter.Charge{{Budget: b.budget, N: n}}
	d, err := b.budget.Owner().Peek(ctx, charges)
	if err != nil {
		panic("BUG: lockfree: " + err.Error()) // a negative n
	}
	return d, charges[0].State
}
