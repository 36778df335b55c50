package lockfree

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/limiter/metrics"
)

// KeyedOptions are the options of NewKeyed.
type KeyedOptions struct {
	// Configured are buckets by the alias of their key. Aliases are the values
	// of a label, so they must not be secret, and must not be "other".
	Configured map[string]Config

	// Implicit is the bucket of each key that is not configured.
	Implicit Config

	// Registry is where the metrics are registered.
	Registry prometheus.Registerer
}

// Keyed is a bucket for each key, and counts what they decide, see package
// metrics: rate_limit_acquire_total, rate_limit_tokens and
// rate_limit_acquire_duration_seconds among others. Keys that are not configured
// have the label "other" in common, so there are as many series as configured
// keys ask for, and a few more, whatever comes from the network.
type Keyed struct {
	configured map[string]metered // never changes
	others     *limiter.Family
	other      *metrics.Series
	set        *metrics.Set
}

// metered is a bucket with its metrics.
type metered struct {
	Bucket
	series *metrics.Series
}

// NewKeyed returns buckets for the keys configured, and one for every other key
// as it turns up.
func NewKeyed(o KeyedOptions) (*Keyed, error) {
	if err := o.Implicit.rule().Validate(); err != nil {
		return nil, fmt.Errorf("implicit keys: %w", err)
	}
	set, err := metrics.New(metrics.Options{Registry: o.Registry, Most: max(1, len(o.Configured))})
	if err != nil {
		return nil, err
	}
	memory := limiter.NewMemory()
	k := &Keyed{
		configured: make(map[string]metered, len(o.Configured)),
		others:     memory.Family(limiter.FamilyOptions{Rule: o.Implicit.rule()}),
		other:      set.Series(metrics.Other),
		set:        set,
	}
	for alias, c := range o.Configured {
		if err := c.rule().Validate(); err != nil {
			return nil, fmt.Errorf("key %q: %w", alias, err)
		}
		if alias == metrics.Other {
			return nil, errors.New(`key "other": that is what all others are called; give it another alias`)
		}
		k.configured[alias] = metered{Bucket{memory.Budget(alias, c.rule())}, set.Series(alias)}
	}
	set.Levels(func(ctx context.Context, show func(*metrics.Series, limiter.State)) {
		for _, b := range k.configured {
			_, s := b.peek(ctx, 0)
			show(b.series, s)
		}
	})
	return k, nil
}

// TryAcquire takes n tokens from a key's bucket, or none and returns false. The
// one error is a negative n.
func (k *Keyed) TryAcquire(key string, n int64) (bool, error) {
	start := time.Now()
	b, known := k.configured[key]
	if !known {
		b = metered{Bucket{k.others.Budget(key)}, k.other}
	}
	ok, err := b.TryAcquire(n)
	k.set.Decided(limiter.Local, time.Since(start))
	switch {
	case err != nil:
		b.series.Count(metrics.Failed)
	case ok:
		b.series.Count(metrics.Allowed)
		b.series.Spent(n)
	case n > b.budget.Rule().Capacity():
		b.series.Count(metrics.Never)
	default:
		b.series.Count(metrics.Refused)
	}
	return ok, err
}
