package bpe

import (
	"strings"
	"testing"
)

// Eight letters at a time end where they end one by one, at every character of one or two bytes and in every place.
func TestSkipLettersAsSkip(t *testing.T) {
	for _, set := range []class{classLetter, o200kRest} {
		for length := range 20 {
			for r := range rune(0x800) {
				for _, word := range []string{"az", "AZ", "azAZmM"} {
					text := "!" + strings.Repeat(word, 10)[:length] + string(r) + "azAZazAZaz"
					if got, want := skipLetters(text, 1, set), skip(text, 1, set); got != want {
						t.Fatalf("set %d: %+q ends at %d, want %d", set, text, got, want)
					}
				}
			}
		}
	}
}
