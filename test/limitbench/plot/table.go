package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tokenfare/tokenfare/test/figures"
)

// columns are the contenders that most benchmarks have.
var columns = []string{"tokenfare", "cas", "x-time-rate", "throttled", "sethvargo", "ulule", "failsafe"}

// tables writes the results as the Markdown tables of docs/limiter.md.
func tables(r *figures.Results) string {
	var b strings.Builder
	heading(&b, "CPU time a call, ns", columns)
	for _, t := range []struct{ says, benchmark, unit string }{
		{"one budget", "OneBudget", "cpu-ns/op"},
		{"the same, refused", "Refused", "cpu-ns/op"},
		{"by name, one of 10,000", "Named/10000", "cpu-ns/op"},
		{"by name, one of 1,000,000", "Named/1000000", "cpu-ns/op"},
		{"allocations a call", "OneBudget", "allocs/call"},
		{"memory a name, bytes", "Memory", "B/name"},
	} {
		row(&b, t.says, columns, func(contender string) string { return cell(r, t.benchmark, contender, t.unit) })
	}

	b.WriteString("\n| tokenfare alone | CPU time a call, ns | allocations |\n|---|--:|--:|\n")
	for _, t := range []struct{ says, benchmark, contender string }{
		{"one bucket, with its state and the exact wait", "OneBudget", "tokenfare-states"},
		{"… refused", "Refused", "tokenfare-states"},
		{"one window, grain of a second", "Rules", "window-1s-grain"},
		{"one calendar quota", "Rules", "calendar"},
		{"one total", "Rules", "total"},
		{"four buckets in one call", "FourBudgets", "tokenfare"},
		{"bucket, window, quota and total in one call", "FourBudgets", "tokenfare-mixed"},
		{"reserve and settle, nothing else open", "ReserveSettle/0", "tokenfare"},
		{"… with 100 others open", "ReserveSettle/100", "tokenfare"},
		{"… with 1,000 others open", "ReserveSettle/1000", "tokenfare"},
		{"reserve and settle a call at once", "Rules", "at-once-reserve-settle"},
	} {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", t.says, cell(r, t.benchmark, t.contender, "cpu-ns/op"), cell(r, t.benchmark, t.contender, "allocs/call"))
	}
	hot(&b, r)
	sweeps(&b, r)
	return b.String()
}

// hot is the table of many goroutines at one budget: millions of decisions a
// second, and what is left of the throughput of one goroutine.
func hot(b *strings.Builder, r *figures.Results) {
	shown := append([]string{"tokenfare", "tokenfare-states"}, columns[1:]...)
	shown = slices.DeleteFunc(shown, func(contender string) bool { return cell(r, "Hot/8", contender, "M/s") == "" })
	if len(shown) < 3 {
		return // the machine had no two cores to spare
	}
	b.WriteString("\n")
	heading(b, "million calls a second on one budget", shown)
	row(b, "1 goroutine", shown, func(contender string) string { return cell(r, "Hot/8", contender, "M/s-of-one") })
	for _, goroutines := range []string{"2", "8", "100"} {
		row(b, goroutines+" goroutines", shown, func(contender string) string {
			benchmark := "Hot/" + goroutines
			rate, of := cell(r, benchmark, contender, "M/s"), r.Of(benchmark, contender, "of-one")
			if rate == "" {
				return ""
			}
			return fmt.Sprintf("%s (%.0f %%)", rate, 100*of)
		})
	}
}

func sweeps(b *strings.Builder, r *figures.Results) {
	b.WriteString("\n| a million names swept beside a caller | its slowest call, best of several sweeps, µs | median, µs |\n|---|--:|--:|\n")
	for _, t := range []struct{ says, contender string }{
		{"tokenfare, all idle", "tokenfare"},
		{"tokenfare, none idle", "tokenfare-none-idle"},
		{"sethvargo/go-limiter, all idle", "sethvargo"},
		{"ulule/limiter, all idle", "ulule"},
		{"no sweep, a goroutine that computes", "alone"},
	} {
		fmt.Fprintf(b, "| %s | %s | %s |\n", t.says, cell(r, "Sweep", t.contender, "least-worst-µs"), cell(r, "Sweep", t.contender, "worst-µs"))
	}
}

func heading(b *strings.Builder, first string, contenders []string) {
	row(b, first, contenders, func(contender string) string { return labels[contender] })
	fmt.Fprintf(b, "|---|%s\n", strings.Repeat("--:|", len(contenders)))
}

func row(b *strings.Builder, first string, contenders []string, cell func(string) string) {
	fmt.Fprintf(b, "| %s |", first)
	for _, c := range contenders {
		fmt.Fprintf(b, " %s |", cell(c))
	}
	b.WriteString("\n")
}

// cell is a figure as it stands in a table; empty if there is none.
func cell(r *figures.Results, benchmark, contender, unit string) string {
	if n := r.Of(benchmark, contender, unit); n >= 0 {
		return figure(n)
	}
	return ""
}
