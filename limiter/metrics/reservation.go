package metrics

import (
	"context"
	"sync"

	"github.com/tokenfare/tokenfare/limiter"
)

// reservation counts what becomes of a reservation of the inner limiter. Should two
// goroutines settle it at the same instant at different amounts, the metrics may
// show the other's than the limiter: no lock is held while that one works.
type reservation struct {
	limiter *Limiter
	inner   *limiter.Reservation

	mu    sync.Mutex
	ended bool     // guarded by mu
	taken []taken  // guarded by mu; one for each charge of Reserve
	few   [4]taken // backs taken when there are no more
}

// taken is what was reserved of one budget, and drawn on top of it.
type taken struct {
	budget *limiter.Budget
	series *Series
	n      int64
}

func (l *Limiter) newReservation(inner *limiter.Reservation, charges []limiter.Charge, series []*Series) *reservation {
	r := &reservation{limiter: l, inner: inner}
	r.taken = r.few[:0]
	for i := range charges {
		series[i].Reserved(charges[i].N)
		r.taken = append(r.taken, taken{budget: charges[i].Budget, series: series[i], n: charges[i].N})
	}
	l.open.Add(1)
	return r
}

// Draw implements limiter.Backing.
func (r *reservation) Draw(ctx context.Context, more []limiter.Charge) (limiter.Decision, error) {
	l := r.limiter
	var buf [usualCharges]*Series
	began := l.now()
	d, err := r.inner.Draw(ctx, more)
	took := l.now() - began
	l.decided(l.allSeries(more, buf[:0]), more, d, err, took)
	if err != nil || !d.OK {
		return d, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range more {
		for j := range r.taken {
			if t := &r.taken[j]; t.budget == more[i].Budget {
				t.n += more[i].N
				t.series.Reserved(more[i].N)
			}
		}
	}
	return d, nil
}

// Settle implements limiter.Backing.
func (r *reservation) Settle(ctx context.Context, actual []int64) error {
	if err := r.inner.Settle(ctx, actual); err != nil {
		return err
	}
	r.end(actual)
	return nil
}

// Cancel implements limiter.Backing.
func (r *reservation) Cancel(ctx context.Context) error {
	if err := r.inner.Cancel(ctx); err != nil {
		return err
	}
	r.end(nil)
	return nil
}

// end counts how it ended, once. No amounts are zeros.
func (r *reservation) end(actual []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.ended = true
	for i := range r.taken {
		t := &r.taken[i]
		n := int64(0)
		if actual != nil {
			n = actual[i]
		}
		t.series.Settled(t.n, n)
	}
	r.limiter.open.Add(-1)
}
