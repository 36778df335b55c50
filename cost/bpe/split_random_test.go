package bpe

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Random texts, from characters close to the patterns to all that Unicode 16 has, split as the reference splits them.
func TestSplitAsTheReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 0))
	byClass := map[class][]rune{}
	var classes []class
	for r := range rune(unicode.MaxRune + 1) {
		if c := classOf(r); utf8.ValidRune(r) {
			if byClass[c] == nil {
				classes = append(classes, c)
			}
			byClass[c] = append(byClass[c], r)
		}
	}
	sources := map[string]func() rune{
		"alphabet": func() rune { return alphabet[rng.IntN(len(alphabet))] },
		"any rune": func() rune {
			runes := byClass[classes[rng.IntN(len(classes))]]
			return runes[rng.IntN(len(runes))]
		},
		"either": func() rune {
			if rng.IntN(2) == 0 {
				return alphabet[rng.IntN(len(alphabet))]
			}
			return rune(rng.IntN(0x250))
		},
	}
	for source, next := range sources {
		for range 12_000 {
			var text []rune
			for length := 1 + rng.IntN(24); len(text) < length; {
				r := next()
				for range 1 + rng.IntN(2)*rng.IntN(4) {
					text = append(text, r)
				}
			}
			for name, split := range splitters {
				got, want := splitAll(split, string(text)), referenceSplit(references[name], string(text))
				if !slices.Equal(got, want) {
					t.Fatalf("%s, %s: %+q splits into %+q, want %+q", name, source, text, got, want)
				}
			}
		}
	}
}

// Every text of up to four characters that differ to the patterns.
func TestSplitEveryShortText(t *testing.T) {
	chars := []string{"s", "S", "中", "\u0301", "7", " ", "\u00a0", "\n", "!", "/", "'"}
	texts := []string{""}
	for range 4 {
		for _, text := range texts {
			for _, char := range chars {
				texts = append(texts, text+char)
			}
		}
		slices.Sort(texts)
		texts = slices.Compact(texts)
	}
	for _, text := range texts {
		for name, split := range splitters {
			if got, want := splitAll(split, text), referenceSplit(references[name], text); !slices.Equal(got, want) {
				t.Fatalf("%s: %+q splits into %+q, want %+q", name, text, got, want)
			}
		}
	}
}

// A quarter of a megabyte splits in milliseconds; were each piece to look at all the rest, it would take a minute, and the
// some three hundred of them here longer than go test waits.
func TestSplitTakesLinearTime(t *testing.T) {
	const size = 1 << 18
	for _, unit := range []string{
		"a", "A", "aA", "Aa", "中", "中A", "A中", "ᵃ", "\u0301", "\u0301A", "A\u0301", "a\u0301", "!", "!\u0301", "7", "٣", "'", "'s", "a's",
		" ", "\n", "\r\n", "\n ", " \n", "\n  ", "\t", "\u3000", "\u00a0\n", " a", "  a", " \u0301", " !", "/", "/\n", "\n/", "!\n/", "!\n ", "🎉",
	} {
		run := strings.Repeat(unit, size/len(unit))
		for _, text := range []string{run + "a", "中" + run + "!", strings.Repeat(run[:100*len(unit)]+"中 ", size/len(unit)/100)} {
			for name, split := range splitters {
				at := 0
				for at < len(text) {
					at = split(text, at)
				}
				if at != len(text) {
					t.Fatalf("%s: pieces of %q end at %d of %d", name, unit, at, len(text))
				}
			}
		}
	}
}

func BenchmarkSplit(b *testing.B) {
	for kind, unit := range map[string]string{
		"english": "The quick brown fox jumps over the lazy dog, and it doesn't mind at all. We've seen harder winters here; " +
			"in 1984 the river froze from bank to bank.\n\nNobody could remember a time like that, they said, " +
			"although every grandmother in town (and there were many) claimed otherwise.\n",
		"code":    "\tfor i, r := range text {\n\t\tif r == '\\n' || unicode.IsSpace(r) {\n\t\t\tlines[i] = append(lines[i], r)\n\t\t}\n\t}\n",
		"json":    `{"id":"c_91","role":"user","tags":["a","b"],"count":1284,"content":"Good morning!\nIs anyone here?"},`,
		"russian": "Быстрая лиса прыгает через ленивую собаку, и та совсем не против. ",
		"chinese": "敏捷的棕色狐狸跳过了懒狗，而狗一点也不介意。",
	} {
		text := strings.Repeat(unit, 50_000/len(unit))
		for name, split := range splitters {
			b.Run(kind+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				pieces := 0
				for b.Loop() {
					for i := 0; i < len(text); i = split(text, i) {
						pieces++
					}
				}
				b.ReportMetric(float64(pieces)/b.Elapsed().Seconds(), "pieces/s")
			})
		}
	}
}
