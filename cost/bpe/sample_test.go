package bpe_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost/bpe"
)

// A sample is a file and what tiktoken itself counts in it.
type sample struct {
	File  string `json:"file"`
	Class string `json:"class"`
	Valid bool   `json:"valid_utf8"`
	counts
	PerByte counts `json:"per_byte_replacement"`
}

type counts struct {
	O200k  int64 `json:"o200k_base"`
	CL100k int64 `json:"cl100k_base"`
	P50k   int64 `json:"p50k_base"`
	R50k   int64 `json:"r50k_base"`
}

func (c counts) of(encoding string) int64 {
	return map[string]int64{"o200k_base": c.O200k, "cl100k_base": c.CL100k, "p50k_base": c.P50k, "r50k_base": c.R50k}[encoding]
}

func TestCountEqualsTiktoken(t *testing.T) {
	checkSamples(t, "testdata")
}

// The larger set of samples stands beside the repository and is not part of it.
func TestCountEqualsTiktokenOnLargerSet(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "data", "tokens")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		t.Logf("no larger set at %s: testdata alone is checked", dir)
		return
	}
	checkSamples(t, dir)
	checkLong(t, filepath.Join(dir, "long.jsonl"))
}

func checkSamples(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "expected.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, files := bufio.NewScanner(f), 0
	for lines.Scan() {
		var s sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "files", s.File))
		if err != nil {
			t.Fatal(err)
		}
		files++
		for _, name := range bpe.Names() {
			want := s.of(name)
			if !s.Valid {
				want = s.PerByte.of(name)
			}
			if got := encoding(t, name).Count(string(text)); got != want {
				t.Errorf("%s: %s counts %d, tiktoken %d", s.File, name, got, want)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Fatal("no samples")
	}
}

// checkLong checks runs that are given by a unit and how often it is repeated.
func checkLong(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var run struct {
			Unit   string `json:"unit"`
			Repeat int    `json:"repeat"`
			counts
		}
		if err := json.Unmarshal([]byte(line), &run); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"o200k_base", "cl100k_base"} {
			if got, want := encoding(t, name).Count(strings.Repeat(run.Unit, run.Repeat)), run.of(name); got != want || want == 0 {
				t.Errorf("%q x %d: %s counts %d, want %d", run.Unit, run.Repeat, name, got, want)
			}
		}
	}
}

func encoding(tb testing.TB, name string) *bpe.Encoding {
	tb.Helper()
	enc, err := bpe.New(name)
	if err != nil {
		tb.Fatal(err)
	}
	return enc
}
