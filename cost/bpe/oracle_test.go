package bpe

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// The oracle is github.com/pkoukk/tiktoken-go, which merges as tiktoken does:
// all of a piece again and again, in quadratic time.

// oracle returns what counts a text as one piece with it.
func oracle(tb testing.TB, name string) func(piece string) int {
	tb.Helper()
	enc, err := engine(name, `(?s).+`)
	if err != nil {
		tb.Fatal(err)
	}
	return func(piece string) int { return len(enc.EncodeOrdinary(piece)) }
}

func engine(name, pattern string) (*tiktoken.Tiktoken, error) {
	ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe("/" + name + ".tiktoken")
	if err != nil {
		return nil, err
	}
	core, err := tiktoken.NewCoreBPE(ranks, nil, pattern)
	if err != nil {
		return nil, err
	}
	return tiktoken.NewTiktoken(core, nil, nil), nil
}

func vocabulary(tb testing.TB, name string) *vocab {
	tb.Helper()
	enc, err := New(name)
	if err != nil {
		tb.Fatal(err)
	}
	return enc.vocab
}

func (v *vocab) size() int { return len(v.made) }

func (v *vocab) bytesOf(token uint32) string { return string(v.text(token)) }

// TestMergeAgainstTheOracle counts pieces of the kinds that merging finds hard:
// few different letters, tokens one after the other, beginnings of tokens.
func TestMergeAgainstTheOracle(t *testing.T) {
	alphabets := []string{
		"ab", "a", "abcdefghij", "th e", " \n\t", "-=_", "中文字符的一是在不了有", "éèàaeu", "абвгдежз", "0123456789", "\x00\x7f~", "हिन्दीक",
	}
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, want, random := vocabulary(t, name), oracle(t, name), rand.New(rand.NewPCG(1, 2))
			c := counting{ctx: t.Context()}
			for i := range 6000 {
				var b strings.Builder
				switch i % 4 {
				case 0:
					letters := []rune(alphabets[random.IntN(len(alphabets))])
					for range 1 + random.IntN(60) {
						b.WriteRune(letters[random.IntN(len(letters))])
					}
				case 1:
					for range 1 + random.IntN(6) {
						b.WriteString(v.bytesOf(uint32(random.IntN(v.size()))))
					}
				case 2: // runs
					for range 1 + random.IntN(3) {
						token := v.bytesOf(uint32(random.IntN(v.size())))
						b.WriteString(strings.Repeat(token[:min(len(token), 1+random.IntN(6))], random.IntN(40)))
						b.WriteString(strings.Repeat("-*=/ \t#"[i/4%7:][:1], 1+random.IntN(150)))
					}
				case 3:
					for range 1 + random.IntN(8) {
						token := v.bytesOf(uint32(random.IntN(v.size())))
						b.WriteString(token[:1+random.IntN(len(token))])
					}
				}
				s := strings.ToValidUTF8(b.String(), "?")
				want := want(s)
				if got := v.strange(s, len(s), &c); got != want {
					t.Fatalf("%d tokens in %q, want %d", got, s, want)
				}
				// With next to no memory, it has to leave tokens behind, and sometimes one too many.
				token, length := v.longest(s, len(s))
				if got := v.longPiece(s, len(s), token|isLongest, length, newMemory(2+i%5), &c); got != want {
					t.Fatalf("%d tokens in %q with little memory, want %d", got, s, want)
				}
			}
		})
	}
}

// FuzzCountAgainstTheOracle compares whole texts, pattern and all. What the
// oracle cannot know, characters newer than its tables, is replaced.
func FuzzCountAgainstTheOracle(f *testing.F) {
	for _, s := range []string{
		"hello world", "it's 12345\r\n", "<|endoftext|>", "\n \n", "a\n  ", "HTTPServer'LL x", "中A文b", "é́\u0301x", "  \t\n\n  x",
		"func main() {\n\tfmt.Println(\"%d\", 1<<20)\n}\n", `{"a":[1,2.5e-7,null],"b":"\u00e9"}`, strings.Repeat("ab", 100),
	} {
		for which := range Names() {
			f.Add(uint8(which), s, []byte("\x00\x01\x02\x20\x30\x40\x50"))
		}
	}
	patterns := map[string]string{"o200k_base": o200kPattern, "cl100k_base": cl100kPattern, "p50k_base": p50kPattern, "r50k_base": p50kPattern}
	engines := map[string]func() (*tiktoken.Tiktoken, error){}
	for name, pattern := range patterns {
		engines[name] = sync.OnceValues(func() (*tiktoken.Tiktoken, error) { return engine(name, pattern) })
	}
	f.Fuzz(func(t *testing.T, which uint8, s string, picks []byte) {
		if len(s)+len(picks) > 300 {
			return
		}
		// Bytes changed at random seldom make valid UTF-8: what picks names of the alphabet does.
		s = strings.Map(known, strings.ToValidUTF8(s, "\ufffd"))
		for _, pick := range picks {
			s += string(alphabet[int(pick)%len(alphabet)])
		}
		name := Names()[int(which)%len(Names())]
		enc, err := New(name)
		if err != nil {
			t.Fatal(err)
		}
		slow, err := engines[name]()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := enc.Count(s), int64(len(slow.EncodeOrdinary(s))); got != want {
			t.Fatalf("%s counts %d in %q, want %d", name, got, s, want)
		}
	})
}

// TestTablesAreReproducible reads the embedded tables back into the vocabulary
// they were made from.
func TestTablesAreReproducible(t *testing.T) {
	for _, name := range Names() {
		ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe("/" + name + ".tiktoken")
		if err != nil {
			t.Fatal(err)
		}
		v, last := vocabulary(t, name), -1
		if v.size() != len(ranks) {
			t.Fatalf("%s has %d tokens, want %d", name, v.size(), len(ranks))
		}
		for i := range v.size() {
			rank, ok := ranks[v.bytesOf(uint32(i))]
			if !ok || rank <= last {
				t.Fatalf("%s: token %d is %q, of rank %d after %d", name, i, v.bytesOf(uint32(i)), rank, last)
			}
			last = rank
			s := v.bytesOf(uint32(i))
			if token, length := v.longest(s, len(s)); length != len(s) || int(token) != i {
				t.Fatalf("%s: %q is token %d, found as %d", name, s, i, token)
			}
			if token, length := v.longest(s+"\x00", len(s)+1); length < len(s) || length == len(s) && int(token) != i {
				t.Fatalf("%s: %q begins with %q", name, s, v.bytesOf(token))
			}
		}
	}
}

// TestLongestToken compares with trying every length.
func TestLongestToken(t *testing.T) {
	for _, name := range Names() {
		v, random := vocabulary(t, name), rand.New(rand.NewPCG(3, 4))
		tokens := make(map[string]bool)
		for i := range v.size() {
			tokens[v.bytesOf(uint32(i))] = true
		}
		check := func(s string, n int) {
			t.Helper()
			want := min(n, longestToken)
			for !tokens[s[:want]] {
				want--
			}
			if token, got := v.longest(s, n); got != want || v.bytesOf(token) != s[:got] {
				t.Fatalf("%s: the first %d of %q begin with %q, want %q", name, n, s, s[:got], s[:want])
			}
		}
		for range 20_000 {
			s := v.bytesOf(uint32(random.IntN(v.size())))
			s = s[:1+random.IntN(len(s))] + v.bytesOf(uint32(random.IntN(v.size())))
			check(s, 1+random.IntN(len(s)))
		}
		for _, char := range " -#/\t=*\n_.0~" {
			for run := range 2 * longestToken {
				for _, behind := range []string{"", "\n", "\r\n\r\n", "a", "/", "|", "---\n"} {
					s := strings.Repeat(string(char), run) + behind + "  "
					check(s, len(s))
					check(s, 1+random.IntN(len(s)))
				}
			}
		}
	}
}
