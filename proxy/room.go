package proxy

import (
	"context"
	"slices"
	"sync"
	"time"
)

// room is the memory for the bodies of requests, in bytes. It is safe for concurrent use.
type room struct {
	most  int64 // of all callers together
	ofOne int64 // of one: nobody can keep the others out

	mu      sync.Mutex
	held    int64    // guarded by mu
	waiting []*place // guarded by mu; who came first has what is free first, if it is enough
}

// share is what one caller has of the room.
type share struct{ held int64 } // guarded by the room's mu

// place is somebody who waits.
type place struct {
	of    *share
	n     int64
	given chan struct{} // closed when it is theirs
}

// take books n more bytes for a caller. It waits for them as long as it has patience, and says for how long it has, and whether they are booked.
func (r *room) take(ctx context.Context, of *share, n int64, patience time.Duration) (waited time.Duration, ok bool) {
	r.mu.Lock()
	if r.fitsLocked(of, n) {
		r.bookLocked(of, n)
		r.mu.Unlock()
		return 0, true
	}
	if n > min(r.most, r.ofOne) {
		r.mu.Unlock()
		return 0, false
	}
	p := &place{of, n, make(chan struct{})}
	r.waiting = append(r.waiting, p)
	r.mu.Unlock()

	began := time.Now()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.given:
		return time.Since(began), true
	case <-timer.C:
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.waiting, p); i >= 0 {
		r.waiting = slices.Delete(r.waiting, i, i+1)
		return time.Since(began), false
	}
	return time.Since(began), true // in this very moment
}

// free gives n bytes back, to those who wait.
func (r *room) free(of *share, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bookLocked(of, -n)
	if n == 0 || len(r.waiting) == 0 {
		return
	}
	r.waiting = slices.DeleteFunc(r.waiting, func(p *place) bool {
		fits := r.fitsLocked(p.of, p.n)
		if fits {
			r.bookLocked(p.of, p.n)
			close(p.given)
		}
		return fits
	})
}

func (r *room) fitsLocked(of *share, n int64) bool { return r.held+n <= r.most && of.held+n <= r.ofOne }

func (r *room) bookLocked(of *share, n int64) {
	r.held += n
	of.held += n
}

// size is how much is booked.
func (r *room) size() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held
}
