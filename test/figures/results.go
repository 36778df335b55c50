// Package figures reads what benchmarks print and puts it into documents: what the plot programs of the benchmark
// modules have in common.
package figures

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Results are the lines of a benchmark run, in their order.
type Results struct {
	Facts map[string]string // goos, goarch, cpu
	Lines []Line
}

// Line is one line, as BenchmarkNamed/10000/ulule-2, and its figures by unit.
type Line struct {
	Benchmark string // Named/10000
	Contender string // ulule
	Figures   map[string]float64
}

// processors is what go test appends to every name unless there is one.
var processors = regexp.MustCompile(`-\d+$`)

// Read reads what go test -bench prints. Lines that are none of a benchmark are passed over; none at all is an error.
func Read(from io.Reader) (*Results, error) {
	r := &Results{Facts: make(map[string]string)}
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		if err := r.read(lines.Text()); err != nil {
			return nil, err
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(r.Lines) == 0 {
		return nil, errors.New("no benchmark in the input; pipe the output of go test -bench into it")
	}
	return r, nil
}

func (r *Results) read(line string) error {
	if key, value, ok := strings.Cut(line, ": "); ok && (key == "cpu" || key == "goos" || key == "goarch") {
		r.Facts[key] = value
	}
	fields := strings.Fields(line)
	if len(fields) < 4 || len(fields)%2 != 0 || !strings.HasPrefix(fields[0], "Benchmark") {
		return nil
	}
	name := processors.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")
	cut := strings.LastIndexByte(name, '/')
	if cut < 0 {
		return nil
	}
	l := Line{Benchmark: name[:cut], Contender: name[cut+1:], Figures: make(map[string]float64)}
	for i := 2; i < len(fields); i += 2 {
		n, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return fmt.Errorf("%s: %q is no figure", fields[0], fields[i])
		}
		l.Figures[fields[i+1]] = n
	}
	r.Lines = append(r.Lines, l)
	return nil
}

// Of returns one figure, -1 if there is none.
func (r *Results) Of(benchmark, contender, unit string) float64 {
	for _, l := range r.All(benchmark, unit) {
		if l.Contender == contender {
			return l.Figures[unit]
		}
	}
	return -1
}

// All returns the lines of a benchmark that have a figure in a unit.
func (r *Results) All(benchmark, unit string) (found []Line) {
	for _, l := range r.Lines {
		if _, ok := l.Figures[unit]; ok && l.Benchmark == benchmark {
			found = append(found, l)
		}
	}
	return found
}

// Below returns the names between a prefix and the contender, in their order.
func (r *Results) Below(prefix string) (names []string) {
	for _, l := range r.Lines {
		name, ok := strings.CutPrefix(l.Benchmark, prefix+"/")
		if ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
