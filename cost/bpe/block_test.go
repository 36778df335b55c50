package bpe

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var inBlocks = map[string]*Encoding{
	"o200k":  {split: splitO200k, blocks: o200kBlocks},
	"cl100k": {split: splitCL100k, blocks: cl100kBlocks},
}

// splitTogether is the pieces of text that begin before until, found as count finds them.
func splitTogether(e *Encoding, text string, until int) (pieces []string) {
	var ends pieceEnds
	for at := 0; at < until; {
		from := at
		for _, end := range ends[:ends.split(e, text[at:], until-at)] {
			pieces = append(pieces, text[from:at+int(end)])
			from = at + int(end)
		}
		at = from
	}
	return pieces
}

// checkBlocks compares with the splitters, which look at one piece at a time.
func checkBlocks(t *testing.T, text string, until int) {
	t.Helper()
	for name, e := range inBlocks {
		want := splitAll(e.split, text)
		for i, at := 0, 0; i < len(want); i++ {
			if at >= until {
				want = want[:i]
			} else {
				at += len(want[i])
			}
		}
		if got := splitTogether(e, text, until); !slices.Equal(got, want) {
			t.Fatalf("%s: %+q up to %d splits into %+q, want %+q", name, text, until, got, want)
		}
	}
}

// Every five characters that differ to blocks, at the beginning of one, within it and at its end.
func TestBlocksSplitEveryShortText(t *testing.T) {
	texts := []string{""}
	for range 5 {
		for _, text := range texts {
			for _, char := range []string{"s", "E", "7", " ", "\t", "\n", "!", "/", "'", "é"} {
				texts = append(texts, text+char)
			}
		}
		slices.Sort(texts)
		texts = slices.Compact(texts)
	}
	const before, behind = "So it was: ", " in the end, and that is more than 64 bytes from where it began to be said."
	for _, text := range texts {
		checkBlocks(t, text+behind, len(text+behind))
		checkBlocks(t, before+text+behind, len(before+text+behind))
		checkBlocks(t, behind[20:]+text+"es", len(behind[20:]+text+"es"))
	}
}

// blockChars are mostly those that blocks tell apart.
const blockChars = "aesSTElLrRvVdDmMzZ@[`{09 \t\v\f\r\n\n  ''/!.-\x00\x1c\x7f"

func TestBlocksSplitAsSplittersDo(t *testing.T) {
	random := rand.New(rand.NewPCG(64, 0))
	for range 40_000 {
		var b strings.Builder
		wide := random.IntN(3) * random.IntN(20)
		for size := 1 + random.IntN(300); b.Len() < size; {
			char := string(blockChars[random.IntN(len(blockChars))])
			if random.IntN(200) < wide {
				char = string(alphabet[random.IntN(len(alphabet))])
			}
			b.WriteString(strings.Repeat(char, 1+random.IntN(2)*random.IntN(1+random.IntN(9))))
		}
		text := b.String()
		checkBlocks(t, text, len(text))
		checkBlocks(t, text, random.IntN(len(text)+1))
	}
}

// More pieces than are split off at once, and longer ones than are split at once without a look at the context.
func TestPiecesInManyParts(t *testing.T) {
	for _, unit := range []string{"a", "!", "1", "A ", "it's ", "a\n", "é ", "1a", " 'x", strings.Repeat("word", 20_000) + " !"} {
		text := strings.Repeat(unit, 200_000/len(unit))
		checkBlocks(t, text, len(text))
	}
}

func FuzzBlocks(f *testing.F) {
	f.Add("I'll  take\n \n 12345 ABC's//\r\n/ and then some more, until there are 64 of them, 'though. \u00a0\n", uint16(70))
	f.Add(strings.Repeat(" \n", 40)+"x", uint16(80))
	f.Fuzz(func(t *testing.T, text string, until uint16) {
		text = toValid(text)
		if len(text) > 0 && len(text) < 2*blockSize {
			text = strings.Repeat(text, 2*blockSize/len(text))
		}
		checkBlocks(t, text, len(text))
		checkBlocks(t, text, min(int(until), len(text)))
	})
}

// What is looked up for many pieces at a time counts as each alone does, wherever the text ends and whatever was there before.
func FuzzFamiliar(f *testing.F) {
	f.Add("what is what, and what is not, is what is asked: \x00\x00\x00 incomprehensibilities 12345 ")
	f.Fuzz(func(t *testing.T, text string) {
		e, err := New("o200k_base")
		if err != nil {
			t.Fatal(err)
		}
		text = toValid(text)
		if text == "" {
			return
		}
		known, c := new(familiar), counting{ctx: t.Context()}
		for range 3 { // strange at first
			pieces, want, from := known.ends.split(e, text, len(text)), int64(0), 0
			for _, end := range known.ends[:pieces] {
				want += int64(e.vocab.strange(text[from:], int(end)-from, &c))
				from = int(end)
			}
			if got := e.vocab.pieces(text, pieces, known, &c); got != want {
				t.Fatalf("%q has %d tokens, want %d", text[:from], got, want)
			}
		}
	})
}
