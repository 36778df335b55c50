package countbench

import (
	"slices"
	"strings"
	"testing"
)

// TestContendersAgree makes sure that like is compared with like: all count the
// same in every text that is measured.
func TestContendersAgree(t *testing.T) {
	for _, encoding := range encodings {
		for _, k := range kinds {
			for i, text := range slices.Concat(k.texts(t), k.fixtureTexts(t)) {
				want := libraries[0].counter(t, encoding)(text)
				for _, l := range libraries[1:] {
					if got := l.counter(t, encoding)(text); got != want {
						t.Errorf("%s, %s, text %d: %s counts %d, tokenfare %d", encoding, k.name, i, l.name, got, want)
					}
				}
			}
		}
	}
}

// TestKnownDifferences holds where the others are known not to count as the
// models do. If it fails, they have been mended, and docs/counting.md is old.
func TestKnownDifferences(t *testing.T) {
	const encoding = "o200k_base"
	for _, c := range []struct {
		library, text string
		want          int // as the models count
	}{
		{"tokenizer", "\n \n", 1},
		{"tokenizer", strings.Repeat("\x7f", 10), 10},
	} {
		for _, l := range libraries {
			got := l.counter(t, encoding)(c.text)
			if l.name == "tokenfare" && got != c.want {
				t.Errorf("tokenfare counts %d in %q, want %d", got, c.text, c.want)
			}
			if l.name == c.library && got == c.want {
				t.Errorf("%s now counts %q right", l.name, c.text)
			}
		}
	}
}
