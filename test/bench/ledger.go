package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What the ledger costs is measured apart: the program with one and the program without, in turns.

// ledgerWorkloads have an upstream that thinks, as all do, and one that does not, which shows what the waiting for the disk is.
func ledgerWorkloads() []workload {
	const manyConns = 32 // enough to keep two cores busy with an upstream that thinks
	return []workload{
		{name: "think", about: "1 kB prompt, plain answer after 50 ms", prompt: 1_000, think: 50 * time.Millisecond, first: true, conns: manyConns, share: 1},
		{name: "think-stream", about: "the same, 200 events at once", prompt: 1_000, stream: true, usage: true, think: 50 * time.Millisecond, first: true, conns: manyConns, share: 0.5},
		{name: "instant", about: "1 kB prompt, plain answer at once: as many as the ledger can take", prompt: 1_000, first: true, conns: manyConns, share: 2},
	}
}

// ledgerSettings are the sizes of such a run.
func ledgerSettings() settings {
	return settings{rounds: 4, requests: 1_500, rate: 50, samples: 300, workloads: ledgerWorkloads()}
}

// ledgerReport is the result, as printed and as JSON.
type ledgerReport struct {
	Machine  machine     `json:"machine"`
	Rounds   int         `json:"rounds"`
	Rate     int         `json:"latency_requests_per_second"`
	Verified uint64      `json:"answers_verified"`
	Seconds  float64     `json:"seconds"`
	Rows     []ledgerRow `json:"rows"`
}

// ledgerRow is one workload on one target. Ratios are to the program without a ledger.
type ledgerRow struct {
	Workload  string  `json:"workload"`
	Target    string  `json:"target"`
	CPU       float64 `json:"cpu_ms_per_1000"`
	CPULow    float64 `json:"cpu_lowest_round"`
	CPUHigh   float64 `json:"cpu_highest_round"`
	CPURatio  float64 `json:"cpu_ratio"`
	P50       float64 `json:"first_byte_p50_ms"`
	P99       float64 `json:"first_byte_p99_ms"`
	Rate      float64 `json:"exchanges_per_second"`
	RateRatio float64 `json:"exchanges_ratio"`
}

// measureLedger runs the program without a ledger, with one, and without again, round after round. How the first and the last
// differ is the noise.
func measureLedger(ctx context.Context, s settings, progress io.Writer) (_ *ledgerReport, err error) {
	began := time.Now()
	facts := machineFacts()
	dir, err := os.MkdirTemp("", "tokenfare-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	targets, stop, err := startLedgers(ctx, s, dir, progress)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	m := newMeasurements(s, targets)
	for round := range s.rounds {
		for i := range s.workloads {
			w := &s.workloads[i]
			if round == 0 {
				for _, t := range targets {
					if err := closedLoop(ctx, t, w, max(w.conns, w.size(&s)/8)); err != nil {
						return nil, err
					}
				}
			}
			fmt.Fprintf(progress, "round %d of %d: %s\n", round+1, s.rounds, w.name)
			if err := m.round(ctx, round, i); err != nil {
				return nil, err
			}
		}
	}
	r := &ledgerReport{Machine: facts, Rounds: s.rounds, Rate: s.rate, Verified: targets[0].numbers.Load(), Seconds: time.Since(began).Seconds()}
	for i, w := range s.workloads {
		for at, t := range targets {
			r.Rows = append(r.Rows, m.cells[i][at].ledgerRow(&w, t.name, &m.cells[i][0]))
		}
	}
	return r, nil
}

// startLedgers brings up a mock and three programs in front of it, each in a directory of its own.
func startLedgers(ctx context.Context, s settings, dir string, progress io.Writer) (targets []*target, stop func() error, err error) {
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
	binary, err := s.program(ctx, dir, progress)
	if err != nil {
		return nil, nil, err
	}
	for i, name := range []string{"no ledger", "ledger", "no ledger again"} {
		home, more := filepath.Join(dir, fmt.Sprint(i)), "ledger: none\n"
		if name == "ledger" {
			more = ""
		}
		if err := os.Mkdir(home, 0o700); err != nil {
			return nil, nil, err
		}
		program, err := servers.hire(startProduct(binary, home, mock.addr, more))
		if err != nil {
			return nil, nil, err
		}
		t := newTarget(name, program)
		t.product = true
		targets = append(targets, t)
		t.numbers = targets[0].numbers
	}
	return targets, servers.stop, nil
}

func (c *cell) ledgerRow(w *workload, target string, without *cell) ledgerRow {
	is, was := typical(c.rounds), typical(without.rounds)
	row := c.row(w, target, was.perThousand(), c.took)
	return ledgerRow{
		Workload: row.Workload, Target: row.Target, CPU: row.CPU, CPULow: row.CPULow, CPUHigh: row.CPUHigh, CPURatio: row.Ratio,
		P50: milliseconds(quantile(c.took, 50)), P99: milliseconds(quantile(c.took, 99)),
		Rate: is.perSecond(), RateRatio: is.perSecond() / was.perSecond(),
	}
}

func (s spent) perSecond() float64 { return float64(s.requests) / s.wall.Seconds() }

const ledgerNotes = `CPU: of the server's process, user and system, closed loop; the cheapest and the dearest round left out, all rounds in brackets.
×: divided by the first row's. First byte: at %d requests a second to each server. Exchanges a second: closed loop, each durable
before its answer. How the last row differs from the first is the noise.
`

// writeTable prints the report for people.
func (r *ledgerReport) writeTable(to io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%d rounds in %.0f s, interleaved; %s answers verified byte by byte\n\n", r.Machine, r.Rounds, r.Seconds, grouped(int64(r.Verified)))
	t := newTable("workload", "server", "CPU ms/1,000", "[rounds]", "×", "first byte p50 ms", "p99 ms", "exchanges/s", "×")
	for _, row := range r.Rows {
		t.add(
			row.Workload, row.Target, figure(row.CPU), "["+figure(row.CPULow)+"–"+figure(row.CPUHigh)+"]", ratio(row.CPURatio),
			optional(&row.P50), optional(&row.P99), grouped(int64(row.Rate)), ratio(row.RateRatio),
		)
	}
	align(&b, t.lines, 2)
	fmt.Fprintf(&b, "\n"+ledgerNotes, r.Rate)
	_, err := io.WriteString(to, b.String())
	return err
}
