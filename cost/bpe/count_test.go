package bpe_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/tokenfare/tokenfare/cost/bpe"
)

func TestKnownCounts(t *testing.T) {
	for _, c := range []struct {
		text          string
		o200k, cl100k int64
	}{
		{"", 0, 0},
		{"hello world", 2, 2},
		{"<|endoftext|>", 7, 7}, // ordinary text, as in any prompt
		{"\x7f\x7f\x7f", 3, 3},
		{"a\n  ", 3, 3},
		{"\n \n", 1, 1},
	} {
		if got := encoding(t, "o200k_base").Count(c.text); got != c.o200k {
			t.Errorf("o200k_base counts %d in %q, want %d", got, c.text, c.o200k)
		}
		if got := encoding(t, "cl100k_base").Count(c.text); got != c.cl100k {
			t.Errorf("cl100k_base counts %d in %q, want %d", got, c.text, c.cl100k)
		}
	}
}

// Long runs, which a quadratic engine takes seconds or hours for.
func TestLongRuns(t *testing.T) {
	for _, c := range []struct {
		unit          string
		repeat        int
		o200k, cl100k int64
	}{
		{"a", 100_000, 12_500, 12_500},
		{"b", 100_000, 25_000, 25_000},
		{"Z", 100_000, 50_000, 50_000},
		{"^", 100_000, 12_500, 25_000},
		{"*", 200_000, 3_125, 3_125},
		{" ", 500_000, 3_907, 3_907},
		{"\n", 100_000, 6_250, 3_125},
		{"\u00fc", 100_000, 50_000, 100_000},
		{"\u65e5", 100_000, 50_000, 100_000},
		{"\U0001f389", 30_000, 60_000, 90_000},
		{"xy", 100_000, 100_000, 100_000},
	} {
		text := strings.Repeat(c.unit, c.repeat)
		for name, want := range map[string]int64{"o200k_base": c.o200k, "cl100k_base": c.cl100k} {
			if got := encoding(t, name).Count(text); got != want {
				t.Errorf("%s counts %d in %q x %d, want %d", name, got, c.unit, c.repeat, want)
			}
		}
	}
}

func TestInvalidBytesCountAsReplacementCharacters(t *testing.T) {
	enc := encoding(t, "o200k_base")
	if got, want := enc.Count("a\xff\xe6\x97z"), enc.Count("a\ufffd\ufffd\ufffdz"); got != want {
		t.Errorf("counts %d, want %d", got, want)
	}
}

func TestUnknownEncodingNamesTheKnownOnes(t *testing.T) {
	_, err := bpe.New("o300k_base")
	if err == nil || !strings.Contains(err.Error(), "o300k_base") || !strings.Contains(err.Error(), "o200k_base") {
		t.Errorf("error %v", err)
	}
}

func TestVocabularyIsHeldOnce(t *testing.T) {
	if first, again := encoding(t, "o200k_base"), encoding(t, "o200k_base"); first != again {
		t.Error("New read the vocabulary twice")
	}
	if got := encoding(t, "o200k_base").Name(); got != "o200k_base" {
		t.Errorf("Name is %q", got)
	}
}

func TestCountFromManyGoroutines(t *testing.T) {
	enc, text := encoding(t, "o200k_base"), strings.Repeat("The quick brown fox. ", 50)
	want := enc.Count(text)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := enc.Count(text); got != want {
				t.Errorf("counts %d, want %d", got, want)
			}
		})
	}
	wg.Wait()
}

func BenchmarkCount(b *testing.B) {
	prose := strings.Repeat("Budgets are charged before the call is made, and settled once the answer has ended. ", 250)
	for _, c := range []struct{ name, text string }{
		{"prose-1kB", prose[:1_000]},
		{"prose-20kB", prose[:20_000]},
		{"flood-100kB", strings.Repeat("ab", 50_000)},
		{"noise-100kB", noise(100_000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			enc := encoding(b, "o200k_base")
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				enc.Count(c.text)
			}
		})
	}
}

// noise is one unbroken run of letters that never repeats, as slow as any known text.
func noise(n int) string {
	letters, state := make([]byte, n), uint32(1)
	for i := range letters {
		state = state*1664525 + 1013904223
		letters[i] = 'a' + byte(state>>24)%26
	}
	return string(letters)
}
