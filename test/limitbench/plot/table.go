package main

import (
	"fmt"
	"strings"
)

// columns are the contenders that most benchmarks have.
var columns = []string{"tokenfare", "cas", "x-time-rate", "throttled", "sethvargo", "ulule", "failsafe"}

// table writes the results as the Markdown tables of docs/limiter.md.
func table(r *results) string {
	var b strings.Builder
	head(&b, "", columns)
	for _, row := range []struct{ says, benchmark, unit string }{
		{"one budget, ns", "OneBudget", "cpu-ns/op"},
		{"the same, refused, ns", "Refused", "cpu-ns/op"},
		{"by name among 10,000, ns", "Named/10000", "cpu-ns/op"},
		{"by name among 1,000,000, ns", "Named/1000000", "cpu-ns/op"},
		{"allocations a call", "OneBudget", "allocs/call"},
		{"memory a name, bytes", "Memory", "B/name"},
	} {
		line(&b, row.says, columns, func(contender string) string {
			return r.cell(row.benchmark, contender, row.unit)
		})
	}

	b.WriteString("\n")
	hot := append(append([]string{}, columns...), "tokenfare-states", "tokenfare-reserve-settle", "x-time-rate-reserve-cancel")
	head(&b, "goroutines", hot)
	line(&b, "1", hot, func(contender string) string { return r.cell("Hot/8", contender, "M/s-of-one") })
	for _, goroutines := range []string{"2", "8", "100"} {
		line(&b, goroutines, hot, func(contender string) string {
			rate := r.cell("Hot/"+goroutines, contender, "M/s")
			if rate == "" {
				return ""
			}
			return fmt.Sprintf("%s (%.0f %%)", rate, 100*r.figure("Hot/"+goroutines, contender, "of-one"))
		})
	}

	for _, own := range []string{"FourBudgets", "ReserveSettle/0", "ReserveSettle/100", "ReserveSettle/1000", "Rules", "Sweep"} {
		b.WriteString("\n")
		for _, l := range r.lines {
			if l.benchmark != own {
				continue
			}
			fmt.Fprintf(&b, "| %s | %s |", own, l.contender)
			for _, unit := range []string{"cpu-ns/op", "allocs/call", "least-worst-µs", "worst-µs", "sweep-ms"} {
				if n, ok := l.figures[unit]; ok {
					fmt.Fprintf(&b, " %s %s |", figure(n), unit)
				}
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func head(b *strings.Builder, first string, columns []string) {
	line(b, first, columns, func(contender string) string {
		if l, ok := labels[contender]; ok {
			return l
		}
		return contender
	})
	fmt.Fprintf(b, "|---|%s\n", strings.Repeat("--:|", len(columns)))
}

func line(b *strings.Builder, first string, columns []string, cell func(string) string) {
	fmt.Fprintf(b, "| %s |", first)
	for _, c := range columns {
		fmt.Fprintf(b, " %s |", cell(c))
	}
	b.WriteString("\n")
}

// cell is a figure as it stands in a table; empty if there is none.
func (r *results) cell(benchmark, contender, unit string) string {
	for _, l := range r.of(benchmark, unit) {
		if l.contender == contender {
			return figure(l.figures[unit])
		}
	}
	return ""
}

func (r *results) figure(benchmark, contender, unit string) float64 {
	for _, l := range r.of(benchmark, unit) {
		if l.contender == contender {
			return l.figures[unit]
		}
	}
	return 0
}
