package cost

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/tokenfare/tokenfare/cost/bpe"
)

func encodingOf(tb testing.TB, name string) *bpe.Encoding {
	tb.Helper()
	enc, err := bpe.New(name)
	if err != nil {
		tb.Fatal(err)
	}
	return enc
}

func counted(tb testing.TB, r *recall, enc *bpe.Encoding, s string) int64 {
	tb.Helper()
	n, err := r.count(tb.Context(), enc, s, math.MaxInt64)
	if err != nil {
		tb.Error(err)
	}
	return n
}

func TestEstimateUntilItsContextEnds(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	e, long := NewEstimator(), strings.Repeat("hello world, ", 100_000)
	r := Request{Messages: 1, Text: []Text{{S: "Hi"}, {S: long}, {S: "there"}}}
	m := Model{Encoding: "o200k_base", KnownEncoding: true}
	if _, err := e.EstimateUpTo(ended, r, m, math.MaxInt64); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	got, err := e.EstimateUpTo(t.Context(), r, m, math.MaxInt64)
	if want := e.Estimate(r, m); err != nil || got != want || got.Input < 200_000 {
		t.Errorf("%+v, %v, want %+v: what was broken off must not be remembered", got, err, want)
	}
}

// Counting stops once there is too much, and what was left off is not remembered.
func TestEstimateUpTo(t *testing.T) {
	long := strings.Repeat("hello world, ", 1_000)
	for _, r := range []Request{
		{Messages: 3, Text: []Text{{S: "Hi"}, {S: long}, {S: "there"}, {Part: PartTools, S: long[7:]}}},
		{Messages: 1, Text: []Text{{S: "Hi"}}, Tools: []string{`{"name":"f","description":"` + long + `"}`}, Images: make([]Image, 1)},
	} {
		for _, ratio := range []Ratio{0, 900, 1500} {
			m := Model{Encoding: "o200k_base", KnownEncoding: true, Ratio: ratio}
			full := NewEstimator().Estimate(r, m)
			e := NewEstimator()
			for most := int64(0); most < full.Input+100; most += 37 {
				got, err := e.EstimateUpTo(t.Context(), r, m, most)
				if err != nil || got != full && (got.Input <= most || got.Input > full.Input) {
					t.Fatalf("ratio %v, up to %d: input %d (%v), %d in full", ratio, most, got.Input, err, full.Input)
				}
			}
			if got := e.Estimate(r, m); got != full {
				t.Errorf("ratio %v: %+v after some were left off, want %+v", ratio, got, full)
			}
		}
	}
	// What is left is enough for the text, but not for what is counted beside it.
	for i, tool := range []string{
		`{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"string","description":"what to look for"}}}}`,
		`{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"string","description":"what to look for"}}}}`,
		`{"name":"now"}`, // whose rendering is longer than its JSON
	} {
		r := Request{Messages: 1, Text: []Text{{S: "Be brief and kind."}}, FirstSystem: 1, Tools: []string{tool}}
		m := Model{Encoding: "o200k_base", KnownEncoding: i == 0}
		full := NewEstimator().Estimate(r, m)
		for most := full.ByPart[PartMessages] + full.ByPart[PartTools]; most < full.Input+100; most++ {
			if got, err := NewEstimator().EstimateUpTo(t.Context(), r, m, most); err != nil || got != full {
				t.Errorf("up to %d: %+v, want %+v (%v)", most, got, full, err)
			}
		}
	}
	if got, _ := NewEstimator().EstimateUpTo(t.Context(), Request{Text: []Text{{S: long}}}, Model{Encoding: "o200k_base"}, 100); got.Input > 200 {
		t.Errorf("%d tokens were counted, where more than 100 are too many", got.Input)
	}
}

func TestRecall(t *testing.T) {
	r, enc, other := newRecall(), encodingOf(t, "o200k_base"), encodingOf(t, "r50k_base")
	long := strings.Repeat("Ünïcödé and more. ", 100)
	for range 3 {
		for _, s := range []string{"", "short", long[:recallFrom-1], long[:recallFrom], long[1 : recallFrom+1], long} {
			for _, e := range []*bpe.Encoding{enc, other} {
				if got, want := counted(t, r, e, s), e.Count(s); got != want {
					t.Fatalf("%s: %d in %d bytes, want %d", e.Name(), got, len(s), want)
				}
			}
		}
	}
	if n := len(r.newest); n != 2*3 {
		t.Errorf("%d strings are remembered, want the three long ones under both encodings", n)
	}
	key := r.hash(long, enc)
	if _, ok := r.find(key); !ok {
		t.Error("a long string is not remembered")
	}
	r.keep(key, 7)
	if got := counted(t, r, enc, long); got != 7 {
		t.Errorf("counted again: %d", got)
	}
	if newRecall().hash(long, enc) == r.hash(long, enc) {
		t.Error("two processes hash alike")
	}
	nonces := map[[12]byte]bool{}
	for _, name := range bpe.Names() {
		nonces[[12]byte(append([]byte(name), make([]byte, 12)...))] = true
	}
	if len(nonces) < len(bpe.Names()) {
		t.Error("two encodings have the same beginning, by which they are told apart")
	}
}

func TestRecallIsBoundedAndKeepsWhatIsUsed(t *testing.T) {
	r, enc := newRecall(), encodingOf(t, "o200k_base")
	used := r.hash("used", enc)
	r.keep(used, 1)
	for i := range 5 * recallSize {
		r.keep(r.hash(fmt.Sprint(i), enc), int64(i))
		if i%(recallSize/2) == 0 {
			if n, ok := r.find(used); !ok || n != 1 {
				t.Fatalf("forgotten after %d others", i)
			}
		}
		if n := len(r.newest) + len(r.older); n > 2*recallSize {
			t.Fatalf("%d strings", n)
		}
	}
	if _, ok := r.find(r.hash("0", enc)); ok {
		t.Error("what was never used again is still there")
	}
}

func TestRecallFromManyGoroutines(t *testing.T) {
	r, enc := newRecall(), encodingOf(t, "o200k_base")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 200 {
				s := strings.Repeat(fmt.Sprint(i%20, " "), recallFrom)
				if got, want := counted(t, r, enc, s), enc.Count(s); got != want {
					t.Errorf("%d, want %d", got, want)
				}
			}
		})
	}
	all.Wait()
}

// BenchmarkAgent counts a conversation of 800 kB in 200 messages that has grown by 4 kB since it was last counted, and one
// that is new.
func BenchmarkAgent(b *testing.B) {
	enc := encodingOf(b, "o200k_base")
	message := func(i int) string {
		return strings.Repeat(fmt.Sprintf("Line %d of the file, with some of the code that it has. ", i), 4096/56)
	}
	history := make([]string, 200)
	for i := range history {
		history[i] = message(i)
	}
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			r := newRecall()
			for _, s := range history {
				counted(b, r, enc, s)
			}
		}
	})
	b.Run("grown", func(b *testing.B) {
		r, n := newRecall(), len(history)
		for _, s := range history {
			counted(b, r, enc, s)
		}
		for b.Loop() {
			n++
			for _, s := range history {
				counted(b, r, enc, s)
			}
			counted(b, r, enc, message(n))
		}
	})
}

// BenchmarkRecallOfNew counts strings of a kilobyte that were never there before, beside the same without remembering them.
func BenchmarkRecallOfNew(b *testing.B) {
	enc, r := encodingOf(b, "o200k_base"), newRecall()
	text := []byte(strings.Repeat("Budgets are charged before the call is made, and settled once the answer has ended. ", 13))
	for name, count := range map[string]func(string) int64{
		"remembered": func(s string) int64 { return counted(b, r, enc, s) },
		"counted":    enc.Count,
	} {
		b.Run(name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				i++
				copy(text, fmt.Sprint(i))
				count(string(text))
			}
		})
	}
}
