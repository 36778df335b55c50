package countbench

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// BenchmarkText is how fast each contender counts each kind of text.
func BenchmarkText(b *testing.B) {
	for _, encoding := range encodings {
		b.Run(encoding, func(b *testing.B) {
			for _, k := range kinds {
				b.Run(k.name, func(b *testing.B) { compare(b, encoding, rounds(), false, always(k.texts(b)...)) })
			}
			b.Run("Go-never-seen", func(b *testing.B) {
				parts := standardLibrary(b)
				compare(b, encoding, rounds(), true, func(round int) []string { return parts[round%len(parts) : round%len(parts)+1] })
			})
		})
	}
}

// compare lets the libraries take turns at the texts, and reports a line for
// each, as a sub-benchmark of its name.
func compare(b *testing.B, encoding string, rounds int, fresh bool, texts func(round int) []string) {
	b.Helper()
	var subjects []*subject
	for _, l := range libraries {
		subjects = append(subjects, &subject{name: l.name, count: l.counter(b, encoding), texts: texts, fresh: fresh})
	}
	takeTurns(subjects, rounds)
	bytes := float64(size(texts(0)))
	for _, s := range subjects {
		b.Run(s.name, func(b *testing.B) {
			b.ReportMetric(0, "ns/op") // nothing is timed here
			b.ReportMetric(1e3*bytes/median(s.cpu), "MB/cpu-s")
			b.ReportMetric(1e3*bytes/median(s.wall), "MB/s")
			b.ReportMetric(ratio(s.cpu, subjects[0].cpu), "x-of-ours")
			b.ReportMetric(slices.Min(s.cpu)/slices.Min(subjects[0].cpu), "x-of-ours-at-best")
			b.ReportMetric(s.allocs, "allocs/count")
		})
	}
}

// standardLibrary is Go's own source, in parts of equal length: so much of it
// that no cache holds what the last part needed.
func standardLibrary(b *testing.B) (parts []string) {
	b.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip("no go command: ", err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src", "*", "*.go"))
	if err != nil || len(files) == 0 {
		b.Skip("no source of the standard library: ", err)
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
		parts = append(parts, text[:length])
	}
	return parts
}
