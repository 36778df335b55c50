package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// results are the lines of a benchmark run, in their order.
type results struct {
	facts map[string]string // goos, goarch, cpu
	lines []result
}

// result is one line: BenchmarkText/o200k_base/Go/tokenizer-2, and its figures by unit.
type result struct {
	benchmark string // Text/o200k_base/Go
	contender string // tokenizer
	figures   map[string]float64
}

// processors is what go test appends to every name unless there is one.
var processors = regexp.MustCompile(`-\d+$`)

// parse reads what go test -bench prints. Lines that are none of a benchmark
// are passed over.
func parse(from io.Reader) (*results, error) {
	r := &results{facts: make(map[string]string)}
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		line := lines.Text()
		if key, value, ok := strings.Cut(line, ": "); ok && (key == "cpu" || key == "goos" || key == "goarch") {
			r.facts[key] = value
		}
		fields := strings.Fields(line)
		if len(fields) < 4 || len(fields)%2 != 0 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := processors.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")
		cut := strings.LastIndexByte(name, '/')
		if cut < 0 {
			continue
		}
		l := result{benchmark: name[:cut], contender: name[cut+1:], figures: make(map[string]float64)}
		for i := 2; i < len(fields); i += 2 {
			n, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %q is no figure", fields[0], fields[i])
			}
			l.figures[fields[i+1]] = n
		}
		r.lines = append(r.lines, l)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(r.lines) == 0 {
		return nil, fmt.Errorf("no benchmark in the input; pipe the output of go test -bench into it")
	}
	return r, nil
}

// of returns one figure, -1 if there is none.
func (r *results) of(benchmark, contender, unit string) float64 {
	for _, l := range r.all(benchmark, unit) {
		if l.contender == contender {
			return l.figures[unit]
		}
	}
	return -1
}

// all returns the lines of a benchmark that have a figure in a unit.
func (r *results) all(benchmark, unit string) (found []result) {
	for _, l := range r.lines {
		if _, ok := l.figures[unit]; ok && l.benchmark == benchmark {
			found = append(found, l)
		}
	}
	return found
}

// below returns the names between a prefix and the contender, in their order.
func (r *results) below(prefix string) (names []string) {
	for _, l := range r.lines {
		name, ok := strings.CutPrefix(l.benchmark, prefix+"/")
		if ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
