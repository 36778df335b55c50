package cost_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
)

// TestALargePartIsNotHeld: a document of half a megabyte cannot have ten held in memory, nor can a larger one have more.
func TestALargePartIsNotHeld(t *testing.T) {
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	if _, err := w.Write(bytes.Repeat([]byte(" "), 10<<20)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := []byte(fmt.Sprintf("%%PDF-1.7\n1 0 obj <</Filter/FlateDecode/Length %d>> stream\n%s\nendstream endobj\n%%", packed.Len(), packed.String()) + strings.Repeat("x", 1<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tokens := cost.RawFileTokens(file)
	runtime.ReadMemStats(&after)
	if tokens < 1<<24 {
		t.Errorf("what is beyond the bound counts %d tokens", tokens)
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 48<<20 {
		t.Errorf("%d MiB were taken", taken>>20)
	}
}

// TestFormsInForms: whoever puts one into the other a hundred times is not followed further down.
func TestFormsInForms(t *testing.T) {
	file := func(n int) []byte {
		var b bytes.Buffer
		b.WriteString("%PDF-1.7\n")
		for i := range n {
			fmt.Fprintf(&b, "%d 0 obj <</Subtype/Form/Resources<</XObject<</A%d %d 0 R>>>>/Length 9>> stream\n", i+1, i+1, i+2)
			if i+1 < n {
				fmt.Fprintf(&b, "/A%d Do ", i+1)
			}
			b.WriteString("(x) Tj\nendstream endobj\n")
		}
		return b.Bytes()
	}
	if n := cost.RawFileTokens(file(50)); n >= 1<<24 {
		t.Errorf("50 forms count %d tokens", n)
	}
	if n := cost.RawFileTokens(file(1000)); n < 1<<24 {
		t.Errorf("1,000 forms count %d tokens", n)
	}
}
