package bpe

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestFamiliarPiecesCountAsStrangeOnes, whatever was there before: pieces that begin alike, end alike or have the same place.
func TestFamiliarPiecesCountAsStrangeOnes(t *testing.T) {
	enc, err := New("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	v, known := enc.vocab, new(familiar)
	parts := []string{"a", "ab", " the", " count", "ersigned", "\x00", "\x00\x00", "ü", "1", "Ą", "zq", " xjq", "0000"}
	rapid.Check(t, func(rt *rapid.T) {
		piece := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 8).Draw(rt, "parts"), "")
		behind := rapid.SampledFrom([]string{"", "x", " and more than eight bytes"}).Draw(rt, "what follows")
		c, n := counting{ctx: t.Context()}, len(piece)
		want := v.strange(piece+behind, n, &c)
		for range 2 {
			if got := v.piece(piece+behind, n, known, &c); got != want {
				rt.Errorf("%q has %d tokens, want %d", piece, got, want)
			}
		}
		if n > mostFamiliar {
			return
		}
		first, _ := known.places(familiarOf(piece+behind, n))
		if !first.is(familiarOf(piece+behind, n)) || first.count() != want {
			rt.Errorf("%q is known to have %d tokens, want %d", piece, first.count(), want)
		}
		for _, other := range []string{piece + "\x00", piece[:n-1], piece[:n-1] + "\x00"} {
			if n := len(other); other != piece && n > 0 && n <= mostFamiliar && first.is(familiarOf(other, n)) {
				rt.Errorf("%q is taken for %q", other, piece)
			}
		}
	})
}
