package lockfree

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/limiter"
)

// Other is the label value that all keys share which are not configured.
const Other = "other"

// KeyedOptions are the options of NewKeyed.
type KeyedOptions struct {
	// Configured are buckets by the alias of their key. Aliases are the values
	// of a label, so they must not be secret, and must not be Other.
	Configured map[string]Config

	// Implicit is the bucket of each key that is not configured.
	Implicit Config

	// Registry is where the metrics are registered.
	Registry prometheus.Registerer
}

// Keyed is a bucket for each key, and counts what they decide:
//
//	rate_limit_acquire_total{key,result}      result: allowed, denied or error
//	rate_limit_tokens{key}                    whole tokens now; configured keys only
//	rate_limit_acquire_duration_seconds       of each decision
//
// There are as many series as configured keys ask for, and a few more, whatever
// comes from the network.
type Keyed struct {
	configured map[string]*meter // never changes
	others     *limiter.Family
	other      *meter
	took       prometheus.Histogram
}

// meter counts the decisions of one key, or of all others.
type meter struct {
	budget                 *limiter.Budget // nil for others
	allowed, denied, error prometheus.Counter
}

// NewKeyed returns buckets for the keys configured, and one for every other key
// as it turns up.
func NewKeyed(o KeyedOptions) (*Keyed, error) {
	if err := o.Implicit.rule().Validate(); err != nil {
		return nil, fmt.Errorf("implicit keys: %w", err)
	}
	memory := limiter.NewMemory()
	total := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rate_limit_acquire_total", Help: "Decisions, by the alias of the key and result.",
	}, []string{"key", "result"})
	newMeter := func(alias string, b *limiter.Budget) *meter {
		return &meter{b, total.WithLabelValues(alias, "allowed"), total.WithLabelValues(alias, "denied"), total.WithLabelValues(alias, "error")}
	}
	k := &Keyed{
		configured: make(map[string]*meter, len(o.Configured)),
		others:     memory.Family(limiter.FamilyOptions{Rule: o.Implicit.rule()}),
		other:      newMeter(Other, nil),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "rate_limit_acquire_duration_seconds", Help: "How long a decision takes.",
			Buckets: prometheus.ExponentialBuckets(50e-9, 2, 16), // to 1.6 ms: 200 ns and 4 µs are five buckets apart
		}),
	}
	all := []prometheus.Collector{total, k.took}
	for alias, c := range o.Configured {
		if err := c.rule().Validate(); err != nil {
			return nil, fmt.Errorf("key %q: %w", alias, err)
		}
		if alias == Other {
			return nil, fmt.Errorf("key %q: that is what all others are called; give it another alias", alias)
		}
		m := newMeter(alias, memory.Budget(alias, c.rule()))
		k.configured[alias] = m
		all = append(all, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "rate_limit_tokens", Help: "Whole tokens in the bucket.", ConstLabels: prometheus.Labels{"key": alias},
		}, func() float64 { return float64((&Bucket{m.budget}).Tokens()) }))
	}
	for _, c := range all {
		if err := o.Registry.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return k, nil
}

// TryAcquire takes n tokens from a key's bucket, or none and returns false. The
// one error is a negative n.
func (k *Keyed) TryAcquire(key string, n int64) (ok bool, err error) {
	start := time.Now()
	m := k.configured[key]
	if m != nil {
		ok, err = m.budget.TryAcquire(context.Background(), n)
	} else {
		m = k.other
		ok, err = k.others.Budget(key).TryAcquire(context.Background(), n)
	}
	k.took.Observe(time.Since(start).Seconds())
	switch {
	case err != nil:
		m.error.Inc()
	case ok:
		m.allowed.Inc()
	default:
		m.denied.Inc()
	}
	return ok, err
}
