package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// measure starts the servers, warms them up, and measures every workload on each of them, round after round.
func measure(ctx context.Context, s settings, progress io.Writer) (_ *report, err error) {
	began := time.Now()
	facts := machineFacts()
	dir, err := os.MkdirTemp("", "tokenfare-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	targets, stop, err := start(ctx, s, dir, progress)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()

	m := newMeasurements(s, targets)
	fmt.Fprintln(progress, "warming up")
	for i := range s.workloads {
		w := &s.workloads[i]
		if w.timed() {
			for _, t := range targets {
				if err := closedLoop(ctx, t, w, max(w.conns, w.size(&s)/8)); err != nil {
					return nil, err
				}
			}
		}
	}
	for round := range s.rounds {
		for i := range s.workloads {
			w := &s.workloads[i]
			if w.rounds > 0 && round >= w.rounds {
				continue
			}
			fmt.Fprintf(progress, "round %d of %d: %s\n", round+1, s.rounds, w.name)
			if err := m.round(ctx, round, i); err != nil {
				return nil, err
			}
		}
	}
	return newReport(facts, m, targets[0].numbers.Load(), time.Since(began)), nil
}

// start brings the servers up and returns them in the order of the table, and what stops them.
func start(ctx context.Context, s settings, dir string, progress io.Writer) (_ []*target, _ func() error, err error) {
	var servers crew
	defer func() {
		if err != nil {
			servers.stop() //nolint:errcheck // the first error tells more
		}
	}()
	mock, err := servers.hire(startRole(roleMock))
	if err != nil {
		return nil, nil, err
	}
	bare, err := servers.hire(startRole(roleBare, mock.addr))
	if err != nil {
		return nil, nil, err
	}
	plain, err := servers.hire(startNginx(dir, mock.addr))
	if err != nil {
		return nil, nil, err
	}
	binary, err := s.program(ctx, dir, progress)
	if err != nil {
		return nil, nil, err
	}
	program, err := servers.hire(startProduct(binary, dir, mock.addr, ""))
	if err != nil {
		return nil, nil, err
	}

	direct, floor, product := newTarget("mock", mock), newTarget("bare proxy", bare), newTarget("tokenfare", program)
	product.product = true
	again := newTarget("mock again", mock)
	targets := []*target{direct, floor, product, again}
	if plain != nil {
		targets = []*target{direct, floor, newTarget("nginx", plain), product, again}
	}
	for _, t := range targets[1:] {
		t.numbers = direct.numbers
	}
	return targets, servers.stop, useUp(product)
}

// directShare is how many times more requests the mock gets: it needs so little for one that the clock of /proc would not see it.
const directShare = 4

// round measures workload i on every target. Who is first changes from round to round.
func (m *measurements) round(ctx context.Context, round, i int) error {
	w := &m.settings.workloads[i]
	for k := range m.targets {
		at := (k + round) % len(m.targets)
		t := m.targets[at]
		n := w.size(&m.settings)
		if !t.product && t.process == m.targets[0].process {
			if w.proxied {
				continue
			}
			n *= directShare
		}
		if err := m.cells[i][at].load(ctx, t, w, n); err != nil {
			return err
		}
	}
	if !w.timed() {
		return nil
	}
	took, err := fixedRate(ctx, m.targets, w, m.settings.rate, m.settings.samples)
	if err != nil {
		return err
	}
	for at := range m.targets {
		m.cells[i][at].took = append(m.cells[i][at].took, took[at]...)
	}
	return nil
}

// load puts one round's requests on a target and keeps what it used for them.
func (c *cell) load(ctx context.Context, t *target, w *workload, n int) error {
	if err := t.process.resetPeak(); err != nil {
		return err
	}
	before, err := t.process.cpu()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := closedLoop(ctx, t, w, n); err != nil {
		return err
	}
	wall := time.Since(began)
	after, err := t.process.cpu()
	if err != nil {
		return err
	}
	peak, err := t.process.peak()
	if err != nil {
		return err
	}
	c.rounds = append(c.rounds, spent{cpu: after - before, requests: n, wall: wall})
	c.peak = max(c.peak, peak)
	return nil
}
