package bpe

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// pieces are the split patterns for Go's own regular expressions. These lack the look-ahead, so `\s+(?!\S)` is left out:
// whitespace then forms pieces at least as long as the real ones, and everything else the same.
var pieces = map[string]*regexp.Regexp{
	"o200k_base":  forGo(o200kPattern),
	"cl100k_base": forGo(cl100kPattern),
	"p50k_base":   forGo(p50kPattern),
}

func forGo(pattern string) *regexp.Regexp {
	const space = `\t-\r\x{85}\p{Z}`
	pattern = strings.ReplaceAll(pattern, `\s+(?!\S)|`, ``)
	pattern = strings.ReplaceAll(pattern, `[^\s`, `[^`+space)
	return regexp.MustCompile(strings.ReplaceAll(pattern, `\s`, `[`+space+`]`))
}

func checkParts(t *testing.T, text string) {
	t.Helper()
	var joined strings.Builder
	for part := range parts(text) {
		joined.WriteString(part)
		if part == "" || !utf8.ValidString(part) {
			t.Fatalf("part %.80q is empty or not UTF-8", part)
		}
		if len(part) > maxBlock+utf8.UTFMax {
			t.Fatalf("a part of %d bytes", len(part))
		}
		for name, split := range pieces {
			for _, piece := range split.FindAllString(part, -1) {
				if len(piece) > MaxPiece {
					t.Fatalf("%s would merge %d bytes at once: %.80q", name, len(piece), piece)
				}
			}
		}
	}
	if joined.String() != text {
		t.Fatalf("the parts of %.80q do not make the text", text)
	}
}

var floods = []string{
	"a", "Z", "aB", "^", "\n", " ", "\t", "7", "٣", "日", "ü", "🎉", "\u0301", "a\u0301", "!\u0301", "'", "a'", "'ll", "xy",
	"/\n", "\n/", "!\n", "! ", " \n", "\r\n", "a ", "a-", "9a", "9 ", "\u00a0", "\u3000", "\u200b", "\ufffd", "a'll", "A'LL ",
}

func TestNoPieceIsLong(t *testing.T) {
	for _, unit := range floods {
		checkParts(t, strings.Repeat(unit, 2000/len(unit)))
		checkParts(t, "!"+strings.Repeat(unit, 2000/len(unit))+"'ll x")
	}
	// What one pattern ends, another carries on: marks are part of words or of punctuation, newlines of punctuation or not.
	kinds := []string{"a", "^", "/", "\n", " ", "7", "日", "\u0301", "a\u0301", "!\u0301", "a'", "\n/"}
	for _, first := range kinds {
		for _, second := range kinds {
			for _, before := range []string{" ", "!"} {
				checkParts(t, before+strings.Repeat(first, 300)+strings.Repeat(second, 300)+"'ll")
			}
		}
	}
}

// Where a block may end, counting the two sides apart changes nothing, in any vocabulary.
func TestBlocksEndWherePiecesEnd(t *testing.T) {
	alphabet := []rune("ab's'sSZ9  \n\n\r\t.!/-<\u00a0\u0301日。é٣🎉")
	rng := rand.New(rand.NewPCG(1, 2))
	texts := []string{" don't I'm don't", "a9 b9\n\n c"} // words that are one token with their contraction
	for range 600 {
		text := make([]rune, 10)
		for i := range text {
			text[i] = alphabet[rng.IntN(len(alphabet))]
		}
		texts = append(texts, string(text))
	}
	ends := 0
	for _, s := range texts {
		text := []rune(s)
		for i := 1; i < len(text); i++ {
			if !endsPiece(kindOf(text[i-1]), kindOf(text[i]), text[i]) {
				continue
			}
			ends++
			for _, name := range names {
				enc, err := New(name)
				if err != nil {
					t.Fatal(err)
				}
				left, right, whole := enc.Count(string(text[:i])), enc.Count(string(text[i:])), enc.Count(s)
				if left+right != whole {
					t.Fatalf("%s: %q counts %d, but %d + %d when it is cut before %q", name, s, whole, left, right, text[i:])
				}
			}
		}
	}
	if ends < 500 {
		t.Errorf("only %d places tried", ends)
	}
}

func TestOrdinaryTextIsNotCut(t *testing.T) {
	for _, text := range []string{
		"", "a", strings.Repeat("word ", 1000), strings.Repeat("x", MaxRun), strings.Repeat("12", 252),
		strings.Repeat(`{"id":12,"tags":["a","b"],"u":"https://example.com/a?b=c"},`, 100),
	} {
		if got := slices.Collect(parts(text)); len(got) > 1 {
			t.Errorf("%.40q of %d bytes was cut into %d parts", text, len(text), len(got))
		}
	}
}

func TestBigTextIsTakenInBlocks(t *testing.T) {
	for _, unit := range []string{"word ", `{"a":1},`, "日本語。", "! ", "!\n"} {
		text := strings.Repeat(unit, 150_000/len(unit))
		got := slices.Collect(parts(text))
		if len(got) < 3 || strings.Join(got, "") != text {
			t.Errorf("%d parts for %d bytes of %q", len(got), len(text), unit)
		}
	}
}

func FuzzParts(f *testing.F) {
	for _, unit := range floods {
		f.Add(unit, uint16(600), "x'll")
	}
	f.Fuzz(func(t *testing.T, unit string, repeat uint16, rest string) {
		unit, rest = strings.ToValidUTF8(unit, "\ufffd"), strings.ToValidUTF8(rest, "\ufffd")
		if len(unit)*int(repeat) > 20_000 {
			repeat = uint16(20_000 / len(unit))
		}
		checkParts(t, strings.Repeat(unit, int(repeat))+rest+strings.Repeat(unit, int(repeat)))
	})
}
