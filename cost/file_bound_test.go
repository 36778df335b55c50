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
