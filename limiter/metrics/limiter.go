package metrics

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/limiter"
)

// Limiter keeps the metrics of a limiter inside it. It decides as that one does.
type Limiter struct {
	inner limiter.Limiter
	set   *Set
	key   func(budget string) string
	base  time.Time
	known sync.Map // of *limiter.Budget that came from Budget, which are never dropped, to *Series
	open  atomic.Int64
}

// Wrap puts metrics around a limiter and registers them.
func Wrap(inner limiter.Limiter, o Options) (*Limiter, error) {
	switch {
	case inner == nil:
		return nil, errors.New("metrics: there is no limiter to wrap")
	case len(o.Labels) > 1:
		return nil, fmt.Errorf("metrics: a wrapped limiter has one label for its budgets, not %q", o.Labels)
	}
	set, err := New(o)
	if err != nil {
		return nil, err
	}
	l := &Limiter{inner: inner, set: set, key: o.Key, base: time.Now()}
	set.Levels(l.readLevels)
	err = o.Registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rate_limit_open_reservations", Help: "Reservations neither settled nor cancelled yet.",
	}, l.openReservations))
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return l, nil
}

// Set returns the metrics.
func (l *Limiter) Set() *Set { return l.set }

// Unwrap returns the limiter inside.
func (l *Limiter) Unwrap() limiter.Limiter { return l.inner }

// Budget returns the inner limiter's handle and has its level shown from now on.
func (l *Limiter) Budget(name string, rule limiter.Rule) *limiter.Budget {
	b := l.inner.Budget(name, rule)
	if _, known := l.known.Load(b); !known {
		label := name
		if l.key != nil {
			label = l.key(name)
		}
		l.known.LoadOrStore(b, l.labelled(label))
	}
	return b
}

// Reserve asks the inner limiter and counts its answer.
func (l *Limiter) Reserve(ctx context.Context, charges []limiter.Charge) (*limiter.Reservation, limiter.Decision, error) {
	var buf [usualCharges]*Series
	began := l.now()
	inner, d, err := l.inner.Reserve(ctx, charges)
	took := l.now() - began
	series := l.allSeries(charges, buf[:0])
	l.decided(series, charges, d, err, took)
	if inner == nil {
		return nil, d, err
	}
	return limiter.NewReservation(l.newReservation(inner, charges, series)), d, err
}

// TryAcquire asks the inner limiter and counts its answer.
func (l *Limiter) TryAcquire(ctx context.Context, charges []limiter.Charge) (limiter.Decision, error) {
	var buf [usualCharges]*Series
	began := l.now()
	d, err := limiter.TryAcquire(ctx, l.inner, charges)
	took := l.now() - began
	series := l.allSeries(charges, buf[:0])
	l.decided(series, charges, d, err, took)
	if err == nil && d.OK {
		for i, s := range series {
			s.Spent(charges[i].N)
		}
	}
	return d, err
}

// Inc counts as the inner limiter does, and how much.
func (l *Limiter) Inc(ctx context.Context, charges []limiter.Charge) error {
	if err := l.inner.Inc(ctx, charges); err != nil {
		return err
	}
	for i := range charges {
		l.series(charges[i].Budget).Spent(charges[i].N)
	}
	return nil
}

// Peek asks the inner limiter. Nothing is decided, so nothing is counted.
func (l *Limiter) Peek(ctx context.Context, charges []limiter.Charge) (limiter.Decision, error) {
	return l.inner.Peek(ctx, charges)
}

// now reads the monotonic clock alone, which costs half as much.
func (l *Limiter) now() time.Duration { return time.Since(l.base) }

// decided counts an answer: what passes on every budget, a refusal on the one that
// explains it, an error on all that were named.
func (l *Limiter) decided(series []*Series, charges []limiter.Charge, d limiter.Decision, err error, took time.Duration) {
	switch {
	case err != nil:
		for _, s := range series {
			if s != nil {
				s.Count(Failed)
			}
		}
		return
	case d.OK:
		for _, s := range series {
			s.Count(Allowed)
		}
	case d.Refused >= 0 && d.Refused < len(charges):
		result := Refused
		if d.TooBig {
			result = Never
		}
		series[d.Refused].Count(result)
	}
	l.set.Decided(d.Source, took)
}

// usualCharges is for how many charges a call needs no memory for their series.
const usualCharges = 8

// allSeries appends the series of all charges to buf, nil for one without a budget.
func (l *Limiter) allSeries(charges []limiter.Charge, buf []*Series) []*Series {
	for i := range charges {
		buf = append(buf, l.series(charges[i].Budget))
	}
	return buf
}

// series returns those of a budget, nil if there is none.
func (l *Limiter) series(b *limiter.Budget) *Series {
	if b == nil {
		return nil
	}
	if known, ok := l.known.Load(b); ok {
		return known.(*Series)
	}
	if l.key == nil {
		return l.labelled("")
	}
	return l.labelled(l.key(b.Name()))
}

func (l *Limiter) labelled(label string) *Series {
	if label == "" {
		label = Other
	}
	return l.set.Series(label)
}

// readLevels asks for the state of every budget that came from Budget.
func (l *Limiter) readLevels(ctx context.Context, show func(*Series, limiter.State)) {
	charge := make([]limiter.Charge, 1)
	l.known.Range(func(b, series any) bool {
		charge[0] = limiter.Charge{Budget: b.(*limiter.Budget)}
		if _, err := l.inner.Peek(ctx, charge); err == nil { // a level that cannot be read is left out
			show(series.(*Series), charge[0].State)
		}
		return ctx.Err() == nil
	})
}

// openReservations asks the inner limiter if it can tell: it knows of those that
// were made without us, or ended as forgotten.
func (l *Limiter) openReservations() float64 {
	if inner, ok := l.inner.(interface{ OpenCount() int }); ok {
		return float64(inner.OpenCount())
	}
	return float64(l.open.Load())
}
