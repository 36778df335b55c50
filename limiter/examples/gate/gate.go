// Package gate lets batches of tokens through, for a user, an address, an
// endpoint and everybody at once, after "Token bucket rate limiter with Redis
// and Rust". Its buckets are kept by any [limiter.Limiter], and it knows what
// to do when that one cannot answer. Here it is tested on memory; a limiter
// with a store behind it takes its place without a change.
//
// No call takes a time: whose clock counts is the limiter's business.
package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// Policy is what to do when the limiter cannot answer.
type Policy uint8

// What to do when the limiter cannot answer.
const (
	Closed Policy = iota // let nothing through
	Open                 // let everything through, uncounted
)

// Options are the options of New.
type Options struct {
	Limiter limiter.Limiter
	Buckets map[Pattern]Config // a bucket for each key of a pattern

	// MostKeys is how many keys of a pattern are told apart at once, if the
	// limiter is one that forgets idle keys; 0 means 1,048,576. Newcomers beyond
	// it share one bucket until there is room.
	MostKeys int

	WhenDown Policy

	// Timeout is how long the limiter may take to answer; 0 means 100 ms.
	Timeout time.Duration
}

// Gate is an entrance with several limits. Its methods may be called from any
// number of goroutines; none of them waits for another.
type Gate struct {
	limiter  limiter.Limiter
	buckets  map[Pattern]source // never changes
	whenDown Policy
	timeout  time.Duration
}

// New returns a gate, or an error that names what is wrong with the options.
func New(o Options) (*Gate, error) {
	if o.Limiter == nil {
		return nil, errors.New("gate: Limiter is missing")
	}
	g := &Gate{limiter: o.Limiter, buckets: make(map[Pattern]source), whenDown: o.WhenDown, timeout: o.Timeout}
	if g.timeout <= 0 {
		g.timeout = 100 * time.Millisecond
	}
	for pattern, config := range o.Buckets {
		rule, err := config.Rule()
		if err != nil {
			return nil, fmt.Errorf("gate: bucket for each %s: %w", pattern, err)
		}
		g.buckets[pattern] = newSource(o, pattern, rule)
	}
	return g, nil
}

// Answer is the answer to one batch.
type Answer struct {
	Allowed   bool
	Unchecked error // not nil if it is allowed only because the limiter could not answer

	// The rest is about one key: the one that refused, or else the one with the
	// smallest share left.
	Key        Key
	Limit      int64
	Remaining  int64
	ResetAfter time.Duration // until its bucket is full
	RetryAfter time.Duration // 0 if allowed, limiter.Never if it holds no such batch
}

// Take takes n tokens from the bucket of each key, or none from any. There must
// be one key at least, and no two of the same pattern.
//
// A refusal is an answer. An error means misuse, or that the limiter could not
// answer and the gate is closed then.
func (g *Gate) Take(ctx context.Context, n int64, keys ...Key) (Answer, error) {
	charges, err := g.charges(n, keys)
	if err != nil {
		return Answer{}, err
	}
	asking, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	d, err := limiter.TryAcquire(asking, g.limiter, charges)
	if err != nil {
		// Misuse was found out above, so the limiter is down, or nobody waits
		// for its answer any more.
		err = fmt.Errorf("gate: take %d: %w", n, err)
		if g.whenDown == Open && ctx.Err() == nil {
			return Answer{Allowed: true, Unchecked: err}, nil
		}
		return Answer{}, err
	}
	at := d.Refused
	if d.OK {
		at = tightest(charges)
	}
	s := charges[at].State
	return Answer{
		Allowed: d.OK, Key: keys[at],
		Limit: s.Limit, Remaining: s.Remaining, ResetAfter: s.ResetAfter, RetryAfter: d.RetryAfter,
	}, nil
}

// charges is what a batch charges. It finds all misuse.
func (g *Gate) charges(n int64, keys []Key) ([]limiter.Charge, error) {
	if n < 0 {
		return nil, fmt.Errorf("gate: a batch of %d tokens", n)
	}
	if len(keys) == 0 {
		return nil, errors.New("gate: a batch for nobody")
	}
	charges := make([]limiter.Charge, len(keys))
	for i, key := range keys {
		bucket, known := g.buckets[key.Pattern]
		if !known {
			return nil, fmt.Errorf("gate: there is no bucket for each %s", key.Pattern)
		}
		for _, before := range keys[:i] {
			if before.Pattern == key.Pattern {
				return nil, fmt.Errorf("gate: two keys for each %s in one batch", key.Pattern)
			}
		}
		charges[i] = limiter.Charge{Budget: bucket.budget(key), N: n}
	}
	return charges, nil
}

// tightest is the index of the charge whose budget has the smallest share left.
func tightest(charges []limiter.Charge) (at int) {
	share := func(s limiter.State) float64 { return float64(s.Remaining) / float64(s.Limit) } // only chooses what to show
	for i := range charges {
		if share(charges[i].State) < share(charges[at].State) {
			at = i
		}
	}
	return at
}

// Sweep drops the buckets of idle keys and returns how many are left, as far as
// the limiter tells. It need not be called: new keys make it happen bit by bit.
func (g *Gate) Sweep() (left int) {
	for _, s := range g.buckets {
		if s.family != nil {
			s.family.Sweep()
			left += s.family.Len()
		}
	}
	return left
}
