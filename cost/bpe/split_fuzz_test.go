package bpe

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/dlclark/regexp2"
)

var patterns = map[string]*regexp2.Regexp{
	"o200k":  regexp2.MustCompile(o200kPattern, regexp2.None),
	"cl100k": regexp2.MustCompile(cl100kPattern, regexp2.None),
	"p50k":   regexp2.MustCompile(p50kPattern, regexp2.None),
}

func regexpSplit(t *testing.T, pattern *regexp2.Regexp, text string) (pieces []string) {
	t.Helper()
	match, err := pattern.FindStringMatch(text)
	for ; match != nil && err == nil; match, err = pattern.FindNextMatch(match) {
		pieces = append(pieces, match.String())
	}
	if err != nil {
		t.Fatal(err)
	}
	return pieces
}

// alphabet has characters of every class and length in bytes, those that the patterns name, and some of their neighbours.
var alphabet = []rune("aAsSſtTrReEvVmMlLdDzZǅéÉßŀшЖ" + "中日ªʰאก" + "\u0301\u0e31\u20dd\U000e0100" + "019٣Ⅷ½²" +
	"  \t\v\u0085\u00a0\u2003\u2028\u3000\n\n\r" + "''/.!-_«’\ufeff\u200b\u001c\x00\x7f\u180e🎉\ue000\U0010ffff\u0378")

func FuzzSplitO200k(f *testing.F)  { fuzzSplit(f, "o200k") }
func FuzzSplitCL100k(f *testing.F) { fuzzSplit(f, "cl100k") }
func FuzzSplitP50k(f *testing.F)   { fuzzSplit(f, "p50k") }

// fuzzSplit compares a splitter with two engines of regular expressions, a quick one with Go's tables of characters and
// the plain one of the reference. The text is text and behind it the characters of alphabet that picks names: bytes
// changed at random seldom make valid UTF-8.
func fuzzSplit(f *testing.F, name string) {
	f.Add("I'll  take\n \n 12345 \u0301ABC中A's//\r\n/", []byte{})
	f.Add("", []byte("\x00\x01\x02\x20\x30\x40\x50"))
	f.Fuzz(func(t *testing.T, text string, picks []byte) {
		if len(text)+len(picks) > 300 {
			return
		}
		text = strings.ToValidUTF8(text, "\ufffd")
		for _, pick := range picks {
			text += string(alphabet[int(pick)%len(alphabet)])
		}
		got := splitAll(splitters[name], text)
		if want := referenceSplit(references[name], text); !slices.Equal(got, want) {
			t.Fatalf("%+q: got %+q, want %+q", text, got, want)
		}
		text = strings.Map(known, text)
		if got, want := splitAll(splitters[name], text), regexpSplit(t, patterns[name], text); !slices.Equal(got, want) {
			t.Fatalf("%+q: got %+q, want %+q", text, got, want)
		}
	})
}

// known replaces a character that Go's tables put in another class, by one on which they agree.
func known(r rune) rune {
	if classOf(r) != goClass(r) {
		return unicode.ReplacementChar
	}
	return r
}

// Text that is not valid UTF-8 may split in any way, but does split.
func FuzzSplitInvalid(f *testing.F) {
	f.Add("a\xff \xe4\xb8")
	f.Add("\xf0\x9f\x8e' \xc5")
	f.Fuzz(func(t *testing.T, text string) {
		for name, split := range splitters {
			if got := splitAll(split, text); strings.Join(got, "") != text {
				t.Errorf("%s: %+q splits into %+q", name, text, got)
			}
		}
	})
}
