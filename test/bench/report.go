package main

import (
	"slices"
	"time"
)

// measurements is all that a run measured.
type measurements struct {
	settings settings
	targets  []*target
	cells    [][]cell // by workload, then target
}

// cell is one workload on one target.
type cell struct {
	rounds []spent
	took   []time.Duration
	peak   int64 // bytes; the largest of all rounds
}

type spent struct {
	cpu      time.Duration
	requests int
	wall     time.Duration
}

func (s spent) perThousand() float64 { return s.cpu.Seconds() * 1e6 / float64(s.requests) }

func newMeasurements(s settings, targets []*target) *measurements {
	m := &measurements{settings: s, targets: targets, cells: make([][]cell, len(s.workloads))}
	for i := range m.cells {
		m.cells[i] = make([]cell, len(targets))
	}
	return m
}

// report is a run's result, as printed and as JSON.
type report struct {
	Machine  machine `json:"machine"`
	Rounds   int     `json:"rounds"`
	Requests int     `json:"requests_per_round"`
	Rate     int     `json:"latency_requests_per_second"`
	Verified uint64  `json:"answers_verified"`
	Seconds  float64 `json:"seconds"`
	Rows     []row   `json:"rows"`
}

// row is one workload on one target. CPU is in milliseconds for 1,000 requests, latency in milliseconds. What was not measured is
// absent.
type row struct {
	Workload string   `json:"workload"`
	Target   string   `json:"target"`
	Callers  int      `json:"callers"`
	CPU      float64  `json:"cpu_ms_per_1000"`
	CPULow   float64  `json:"cpu_lowest_round"`
	CPUHigh  float64  `json:"cpu_highest_round"`
	Ratio    float64  `json:"cpu_ratio_to_bare"`
	P50      *float64 `json:"p50_ms,omitempty"`
	Added    *float64 `json:"added_p50_ms,omitempty"`
	PeakMiB  float64  `json:"peak_rss_mib"`
	Requests int      `json:"cpu_requests"`
}

// bareAt is where the bare proxy stands among the targets; the mock is the first of them.
const bareAt = 1

func newReport(facts machine, m *measurements, verified uint64, took time.Duration) *report {
	r := &report{
		Machine: facts, Rounds: m.settings.rounds, Requests: m.settings.requests, Rate: m.settings.rate,
		Verified: verified, Seconds: took.Seconds(),
	}
	for i, w := range m.settings.workloads {
		cells := m.cells[i]
		floor := typical(cells[bareAt].rounds).perThousand()
		var direct []time.Duration
		for at, t := range m.targets {
			if t.process == m.targets[0].process {
				direct = append(direct, cells[at].took...)
			}
		}
		for at, t := range m.targets {
			if len(cells[at].rounds) == 0 {
				continue
			}
			r.Rows = append(r.Rows, cells[at].row(&w, t.name, floor, direct))
		}
	}
	return r
}

func (c *cell) row(w *workload, target string, floor float64, direct []time.Duration) row {
	r := row{
		Workload: w.name, Target: target, Callers: w.conns, CPU: typical(c.rounds).perThousand(),
		CPULow:  slices.MinFunc(c.rounds, cheaper).perThousand(),
		CPUHigh: slices.MaxFunc(c.rounds, cheaper).perThousand(),
		PeakMiB: float64(c.peak) / (1 << 20),
	}
	for _, s := range c.rounds {
		r.Requests += s.requests
	}
	if floor > 0 {
		r.Ratio = r.CPU / floor
	}
	if len(c.took) > 0 {
		p50 := milliseconds(median(c.took))
		added := p50 - milliseconds(median(direct))
		r.P50, r.Added = &p50, &added
	}
	return r
}

func cheaper(a, b spent) int {
	switch x, y := a.perThousand(), b.perThousand(); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// typical adds the rounds up. Where there are enough of them the cheapest and the dearest are left out: a machine that does
// something else for a second then changes little, and the coarse clock of /proc still averages out.
func typical(rounds []spent) spent {
	kept := slices.SortedFunc(slices.Values(rounds), cheaper)
	if len(kept) >= 4 {
		kept = kept[1 : len(kept)-1]
	}
	var sum spent
	for _, s := range kept {
		sum.cpu += s.cpu
		sum.requests += s.requests
		sum.wall += s.wall
	}
	return sum
}

func median(all []time.Duration) time.Duration { return quantile(all, 50) }

// quantile is what so many of a hundred stay below.
func quantile(all []time.Duration, percent int) time.Duration {
	return slices.Sorted(slices.Values(all))[len(all)*percent/100]
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1e3 }
