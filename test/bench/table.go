package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

const notes = `CPU: of the server's process, user and system, closed loop; the cheapest and the dearest round left out, all rounds in brackets.
×bare: CPU divided by the bare proxy's. p50: to the last byte of the answer, at %d requests a second to each server; added: less the
mock's own. mock again: the same process, measured a second time; how it differs from the first is the noise.
`

// writeTable prints the report for people.
func (r *report) writeTable(to io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%d rounds in %.0f s, interleaved; %s answers verified byte by byte\n\n", r.Machine, r.Rounds, r.Seconds, grouped(int64(r.Verified)))
	t := newTable("workload", "server", "CPU ms/1,000", "[rounds]", "×bare", "p50 ms", "added", "peak MiB", "requests", "callers")
	for _, row := range r.Rows {
		t.add(
			row.Workload, row.Target, figure(row.CPU), "["+figure(row.CPULow)+"–"+figure(row.CPUHigh)+"]", ratio(row.Ratio),
			optional(row.P50), optional(row.Added), strconv.FormatFloat(row.PeakMiB, 'f', 0, 64), grouped(int64(row.Requests)), strconv.Itoa(row.Callers),
		)
	}
	align(&b, t.lines, 2)
	fmt.Fprintf(&b, "\n"+notes, r.Rate)
	_, err := io.WriteString(to, b.String())
	return err
}

// table are lines in groups: each workload is named once, after an empty line.
type table struct {
	lines    [][]string
	workload string // of the last line
}

func newTable(head ...string) *table { return &table{lines: [][]string{head}} }

func (t *table) add(workload string, cells ...string) {
	name := ""
	if workload != t.workload {
		t.lines, t.workload, name = append(t.lines, nil), workload, workload
	}
	t.lines = append(t.lines, append([]string{name}, cells...))
}

// align writes lines in columns: words, the first ones, to the left, and numbers to the right.
func align(to *strings.Builder, lines [][]string, words int) {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, text := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	for _, line := range lines {
		for i, text := range line {
			padding := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
			if i > 0 {
				to.WriteString("  ")
			}
			if i < words {
				to.WriteString(text + padding)
			} else {
				to.WriteString(padding + text)
			}
		}
		to.WriteString("\n")
	}
}

// figure prints three digits that mean something.
func figure(ms float64) string {
	if ms >= 99.5 {
		return grouped(int64(ms + 0.5))
	}
	return strconv.FormatFloat(ms, 'f', 1, 64)
}

func ratio(x float64) string {
	if x == 0 {
		return "-"
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

func optional(ms *float64) string {
	if ms == nil {
		return "-"
	}
	text := strconv.FormatFloat(*ms, 'f', 2, 64)
	if text == "-0.00" {
		return "0.00"
	}
	return text
}

// grouped prints a number with commas between thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}
