package countbench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// BenchmarkReady is how long a fresh process takes until it has counted its
// first words, by wall clock and with all cores.
func BenchmarkReady(b *testing.B) {
	programs := build(b)
	for _, encoding := range encodings {
		b.Run(encoding, func(b *testing.B) {
			took := make([][]start, len(libraries))
			for range max(5, rounds()/2) {
				for i, l := range libraries {
					took[i] = append(took[i], programs[l.name].start(b, encoding))
				}
			}
			for i, l := range libraries {
				b.Run(l.name, func(b *testing.B) {
					wall := each(took[i], func(s start) float64 { return s.wall / 1e6 })
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(slices.Min(wall), "least-ms")
					b.ReportMetric(median(wall), "ms")
					b.ReportMetric(median(each(took[i], func(s start) float64 { return s.cpu / 1e6 })), "cpu-ms")
				})
			}
		})
	}
}

// BenchmarkSize is what the contenders add to a program: memory with both
// encodings, and bytes of the program itself.
func BenchmarkSize(b *testing.B) {
	programs := build(b)
	for _, l := range libraries {
		var memory []float64
		for range 3 {
			memory = append(memory, programs[l.name].start(b, encodings...).memory)
		}
		b.Run(l.name, func(b *testing.B) {
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(memory)/1e6, "memory-MB")
			b.ReportMetric(float64(programs[l.name].bytes-programs["nothing"].bytes)/1e6, "program-MB")
		})
	}
}

// TestReadyPrograms keeps the programs running.
func TestReadyPrograms(t *testing.T) {
	for name, p := range build(t) {
		if s := p.start(t, encodings...); s.wall <= 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// program is one of those in ready.
type program struct {
	path  string
	bytes int64
}

// start is what a program says of itself: nanoseconds and bytes.
type start struct{ wall, cpu, memory float64 }

// build makes the programs as they are released, without symbols.
func build(tb testing.TB) map[string]program {
	tb.Helper()
	programs := make(map[string]program)
	for name, dir := range map[string]string{
		"tokenfare": "tokenfare", "tiktoken-go": "tiktokengo", "tokenizer": "tokenizer", "nothing": "nothing",
	} {
		path := filepath.Join(tb.TempDir(), dir)
		build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "./ready/"+dir)
		if out, err := build.CombinedOutput(); err != nil {
			tb.Fatalf("%v: %s", err, out)
		}
		info, err := os.Stat(path)
		if err != nil {
			tb.Fatal(err)
		}
		programs[name] = program{path, info.Size()}
	}
	return programs
}

func (p program) start(tb testing.TB, encodings ...string) (s start) {
	tb.Helper()
	out, err := exec.Command(p.path, encodings...).Output()
	if err == nil {
		_, err = fmt.Fscan(strings.NewReader(string(out)), &s.wall, &s.cpu, &s.memory)
	}
	if err != nil {
		tb.Fatalf("%s: %v", p.path, err)
	}
	return s
}

func each[T any](of []T, figure func(T) float64) []float64 {
	figures := make([]float64, len(of))
	for i := range of {
		figures[i] = figure(of[i])
	}
	return figures
}
