package main

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// closedLoop sends n requests over the workload's connections, each connection the next as soon as its last was answered, and
// returns when all are answered and found right.
func closedLoop(ctx context.Context, t *target, w *workload, n int) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var left atomic.Int64
	left.Store(int64(n))
	var all sync.WaitGroup
	for range min(w.conns, n) {
		all.Go(func() {
			c, err := dial(t, w)
			if err != nil {
				fail(err)
				return
			}
			defer c.close()
			for ctx.Err() == nil && left.Add(-1) >= 0 {
				if _, err := c.ask(); err != nil {
					fail(err)
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// fixedRate sends n requests to each target at a steady rate a second, whether or not earlier ones are answered, and returns how
// long each took. The targets take turns in a new order each time around, so that whatever else the machine does meets them alike.
func fixedRate(ctx context.Context, targets []*target, w *workload, rate, n int) ([][]time.Duration, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	lines := make([]line, len(targets))
	for i, t := range targets {
		lines[i] = line{target: t, workload: w, took: make([]time.Duration, 0, n)}
		defer lines[i].close()
	}
	gap := time.Second / time.Duration(rate*len(targets))
	due := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var all sync.WaitGroup
	for range n {
		for _, i := range rand.Perm(len(targets)) {
			select {
			case <-timer.C:
			case <-ctx.Done():
				all.Wait()
				return nil, context.Cause(ctx)
			}
			due = due.Add(gap)
			timer.Reset(time.Until(due))
			all.Go(func() {
				if err := lines[i].ask(); err != nil {
					fail(err)
				}
			})
		}
	}
	all.Wait()
	took := make([][]time.Duration, len(lines))
	for i := range lines {
		took[i] = lines[i].took
	}
	return took, context.Cause(ctx)
}

// line is the connections to one target that are idle, and what was measured over them.
type line struct {
	target   *target
	workload *workload

	mu   sync.Mutex
	idle []*connection   // guarded by mu
	took []time.Duration // guarded by mu
}

func (l *line) ask() error {
	c, err := l.get()
	if err != nil {
		return err
	}
	took, err := c.ask()
	if err != nil {
		c.close()
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = append(l.idle, c)
	l.took = append(l.took, took)
	return nil
}

func (l *line) get() (*connection, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last := len(l.idle) - 1; last >= 0 {
		c := l.idle[last]
		l.idle = l.idle[:last]
		return c, nil
	}
	return dial(l.target, l.workload)
}

func (l *line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.idle {
		c.close()
	}
}
