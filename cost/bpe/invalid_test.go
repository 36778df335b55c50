package bpe

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// toValid puts U+FFFD in the place of each byte that is not UTF-8, all at once.
func toValid(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		b.WriteRune(r)
		i += size
	}
	return b.String()
}

func TestInvalidTextInParts(t *testing.T) {
	units := []string{
		"\xff", "a\xff", "\xe6\x97", "日\xe6", "\xf0\x9f\x8e", "A", "AA\xffB", "ʰA", "\u0301", " ", "  ", "\n", " \n", "\r\n ", "\t\xc2", "\u3000\xe3\x80",
		"'", "'l", "'ll", "a'r", "'\xc5", "ſ", "'ſ", "7", "12345", "\xed\xa0\x80", "!", "!/\n", "hello world ", "Été\xc3", "<|endoftext|>", "\ufffd",
	}
	random := rand.New(rand.NewPCG(7, 8))
	for _, name := range Names() {
		enc, err := New(name)
		if err != nil {
			t.Fatal(err)
		}
		check := func(text string) {
			t.Helper()
			if got, want := enc.Count(text), enc.Count(toValid(text)); got != want {
				t.Fatalf("%s counts %d in %d bytes that end with %q, want %d", name, got, len(text), text[max(0, len(text)-100):], want)
			}
		}
		// Every unit at the cut, with others behind it, somewhat before or after.
		for _, unit := range units {
			for range 6 {
				shift, behind := random.IntN(4), units[random.IntN(len(units))]
				before := "\xff" + strings.Repeat("a ", (partSize-3-shift-len(unit)*6)/2) + strings.Repeat("b", shift)
				check(before + strings.Repeat(unit, 6) + strings.Repeat(behind, 12) + " end")
			}
		}
		for range 20 {
			var b strings.Builder
			for size := random.IntN(5 * partSize); b.Len() < size; {
				unit := units[random.IntN(len(units))]
				times := 1 + random.IntN(3)
				if random.IntN(200) == 0 {
					times = random.IntN(2 * partSize / len(unit))
				}
				b.WriteString(strings.Repeat(unit, times))
			}
			check(b.String())
		}
		noise := make([]byte, 3*partSize)
		for i := range noise {
			noise[i] = byte(random.Uint32())
		}
		check(string(noise))
	}
}

func TestInvalidTextIsLeftEarly(t *testing.T) {
	enc, err := New("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for name, text := range map[string]string{"many pieces": strings.Repeat("hello \xff", 200_000), "one piece": strings.Repeat("\xff", 2_000_000)} {
		all := enc.Count(text)
		for _, most := range []int64{int64(len(text)) / longestToken, all / 2, all - 1, all, math.MaxInt64} {
			if got := enc.CountUpTo(text, most); all <= most && got != all || all > most && (got <= most || got > all) {
				t.Errorf("%s: %d of at most %d, of %d in all", name, got, most, all)
			}
		}
		if n, err := enc.CountContext(ended, text, math.MaxInt64); !errors.Is(err, context.Canceled) || n > 0 {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
}
