package bpe_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestCountUpTo(t *testing.T) {
	enc := encoding(t, "o200k_base")
	for _, text := range []string{"", "hello world", strings.Repeat("hello world. ", 1000), strings.Repeat("ab", 5000)} {
		all := enc.Count(text)
		for _, most := range []int64{-1, 0, 1, all - 1, all, all + 1, math.MaxInt64} {
			got := enc.CountUpTo(text, most)
			if all <= most && got != all || all > most && (got <= most || got > all) {
				t.Errorf("%d of at most %d, of %d in all", got, most, all)
			}
		}
	}
	if got, want := enc.CountUpTo(strings.Repeat("ab ", 10_000), 10), int64(30_000+127)/128; got != want {
		t.Errorf("looked at a text that is too long by its bytes: %d, want %d", got, want)
	}
}

func TestCountContext(t *testing.T) {
	enc := encoding(t, "o200k_base")
	ended, end := context.WithCancel(t.Context())
	end()
	short := strings.Repeat("ab", 1000)
	want := enc.Count(short)
	for name, text := range map[string]string{
		"many pieces": strings.Repeat("hello world. ", 20_000),
		"one piece":   strings.Repeat("ab", 100_000),
	} {
		if n, err := enc.CountContext(ended, text, math.MaxInt64); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %d, %v", name, n, err)
		}
		if n, err := enc.CountContext(t.Context(), text, math.MaxInt64); err != nil || n != enc.Count(text) {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	// After one that was cut short, the memory it used must not be mistaken for its own by the next.
	for range 100 {
		if got := enc.Count(short); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	}
}

func TestCountAllocatesNothing(t *testing.T) {
	enc := encoding(t, "o200k_base")
	for name, text := range map[string]string{
		"prose":      strings.Repeat("Budgets are charged before the call is made, and settled once. ", 100),
		"one piece":  strings.Repeat("ab", 5000),
		"huge piece": strings.Repeat("\x00", 1_100_000),
		"not valid":  strings.Repeat("hello \xff", 100_000),
		"short runs": strings.Repeat("ab", 50) + "\n" + strings.Repeat("日本語", 30),
	} {
		if n := testing.AllocsPerRun(20, func() { enc.Count(text) }); n != 0 && !raceEnabled {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
