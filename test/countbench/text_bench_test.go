package countbench

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// BenchmarkText is how fast each contender counts each kind of text. All kinds
// take turns as well, so that a while in which the machine is busy with other
// things is no kind's alone.
func BenchmarkText(b *testing.B) {
	for _, encoding := range encodings {
		b.Run(encoding, func(b *testing.B) {
			var names []string
			var comparisons []comparison
			for _, k := range kinds {
				names = append(names, k.name)
				comparisons = append(comparisons, newComparison(b, encoding, always(k.texts(b)...)))
			}
			if parts := standardLibrary(b); len(parts) > 0 {
				c := newComparison(b, encoding, func(round int) []string { return parts[round%len(parts)] })
				for _, s := range c.subjects {
					s.fresh = true
				}
				names, comparisons = append(names, "Go-never-seen"), append(comparisons, c)
			}
			var all []*subject
			for _, c := range comparisons {
				all = append(all, c.subjects...)
			}
			takeTurns(all, rounds())
			for i, c := range comparisons {
				b.Run(names[i], c.report)
			}
		})
	}
}

// comparison is all libraries at the same texts, which are of the same length
// each round.
type comparison struct {
	subjects []*subject // ours first
	bytes    int
}

func newComparison(b *testing.B, encoding string, texts func(round int) []string) comparison {
	b.Helper()
	c := comparison{bytes: size(texts(0))}
	for _, l := range libraries {
		c.subjects = append(c.subjects, &subject{name: l.name, count: l.counter(b, encoding), texts: texts})
	}
	return c
}

// report reports a line for each library, as a sub-benchmark of its name.
func (c comparison) report(b *testing.B) {
	ours := c.subjects[0]
	for _, s := range c.subjects {
		b.Run(s.name, func(b *testing.B) {
			b.ReportMetric(0, "ns/op") // nothing is timed here
			b.ReportMetric(1e3*float64(c.bytes)/median(s.cpu), "MB/cpu-s")
			b.ReportMetric(1e3*float64(c.bytes)/median(s.wall), "MB/s")
			b.ReportMetric(ratio(s.cpu, ours.cpu), "x-of-ours")
			b.ReportMetric(slices.Min(s.cpu)/slices.Min(ours.cpu), "x-of-ours-at-best")
			b.ReportMetric(s.allocs, "allocs/count")
		})
	}
}

// standardLibrary is Go's own source, in parts of equal length: so much of it
// that no cache holds what the last part needed. There is none without the go
// command and its source.
func standardLibrary(b *testing.B) (parts [][]string) {
	b.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Log("no go command: ", err)
		return nil
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src", "*", "*.go"))
	if err != nil || len(files) == 0 {
		b.Log("no source of the standard library: ", err)
		return nil
	}
	const length, most = 128 << 10, 64
	var all strings.Builder
	for _, file := range files {
		if all.Len() > length*most {
			break
		}
		all.WriteString(read(b, file))
	}
	for text := all.String(); len(text) > length && len(parts) < most; text = text[length:] {
		parts = append(parts, []string{text[:length]})
	}
	return parts
}
