package figures

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = `goos: linux
goarch: amd64
cpu: A processor
BenchmarkNamed/10000/ours-2   	       1	         0 allocs/call	       80.5 cpu-ns/op
BenchmarkNamed/10000/ulule-2  	       1	         2.000 allocs/call	       400 cpu-ns/op
BenchmarkNamed/20000/ours     	       1	         90 cpu-ns/op
BenchmarkAlone-2              	       1	         90 ns/op
PASS
ok  	some/package	1.0s
`

func TestRead(t *testing.T) {
	r, err := Read(strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	if r.Facts["cpu"] != "A processor" || len(r.Lines) != 3 {
		t.Errorf("%+v", r)
	}
	for unit, want := range map[string]float64{"cpu-ns/op": 400, "allocs/call": 2, "B/op": -1} {
		if got := r.Of("Named/10000", "ulule", unit); got != want {
			t.Errorf("%s: %v, want %v", unit, got, want)
		}
	}
	if diff := cmp.Diff([]string{"10000", "20000"}, r.Below("Named")); diff != "" {
		t.Error(diff)
	}
	if n := len(r.All("Named/10000", "cpu-ns/op")); n != 2 {
		t.Errorf("%d lines", n)
	}
}

var program = Program{
	Tables: func(r *Results) string { return "| " + r.Facts["cpu"] + " |\n" },
	Bars: func(r *Results) (string, error) {
		if r.Of("Named/10000", "ours", "cpu-ns/op") < 0 {
			return "", errors.New("none of the benchmarks")
		}
		return "<svg/>", nil
	},
	Pictures: map[string]func() string{"bucket": func() string { return "<svg>bucket</svg>" }},
}

func run(t *testing.T, stdin string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := program.Run(args, strings.NewReader(stdin), &out)
	return out.String(), err
}

func TestProgram(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench.txt")
	if err := os.WriteFile(file, []byte(sample), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		stdin string
		args  []string
		want  string
	}{
		{sample, []string{"tables"}, "| A processor |\n"},
		{"", []string{"tables", file}, "| A processor |\n"},
		{sample, []string{"bars"}, "<svg/>"},
		{"", []string{"bars", file}, "<svg/>"},
		{"", []string{"bucket"}, "<svg>bucket</svg>"},
	} {
		if got, err := run(t, c.stdin, c.args...); err != nil || got != c.want {
			t.Errorf("%q: %q, %v", c.args, got, err)
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		name, stdin string
		args        []string
		want        string
	}{
		{"nothing named", "", nil, "usage"},
		{"an unknown picture", "", []string{"pie"}, "usage"},
		{"too many files", "", []string{"bars", "a", "b"}, "usage"},
		{"a missing file", "", []string{"bars", "none.txt"}, "none.txt"},
		{"no benchmark in the input", "ok  \tpkg\t0.1s\n", []string{"bars"}, "no benchmark"},
		{"a figure that is none", "BenchmarkNamed/1/ours-2 1 x cpu-ns/op\n", []string{"bars"}, "no figure"},
		{"nothing of what is drawn", "BenchmarkOther/ours-2 1 2 cpu-ns/op\n", []string{"bars"}, "none of the benchmarks"},
	} {
		if _, err := run(t, c.stdin, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// TestFill puts the tables between the two lines, and again without trace of the first time.
func TestFill(t *testing.T) {
	dir := t.TempDir()
	file, document := filepath.Join(dir, "bench.txt"), filepath.Join(dir, "d.md")
	for path, text := range map[string]string{file: sample, document: "before\n" + tablesBegin + "old\n" + tablesEnd + "after\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := "before\n" + tablesBegin + "\n| A processor |\n\n" + tablesEnd + "after\n"
	for range 2 {
		if _, err := run(t, "", "fill", file, document); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(document); err != nil || string(got) != want {
			t.Errorf("the document is now\n%s\nwant\n%s", got, want)
		}
	}
	if _, err := run(t, "", "fill", file, file); err == nil {
		t.Error("a document without a place for the tables was filled")
	}
}
