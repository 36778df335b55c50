package cost_test

import (
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
)

// TestDocumentsAreOpenedAFewAtATime: of many that come at once each is small, and what comes out of all of them would take a third of a gigabyte.
func TestDocumentsAreOpenedAFewAtATime(t *testing.T) {
	const documents, out, most = 24, 6 << 20, 160 << 20
	file := []byte(zipOf(t, 0, "a.bin", strings.Repeat("\x01", 200<<10)) + zipOf(t, 8, "word/document.xml", "<w:t>"+strings.Repeat("a", out)+"</w:t>"))
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var all sync.WaitGroup
	for range documents {
		all.Go(func() {
			if n := cost.RawFileTokens(file); n < out {
				t.Errorf("%d letters count %d tokens", out, n)
			}
		})
	}
	all.Wait()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > most {
		t.Errorf("%d MiB for %d documents of %d KiB, want at most %d", grown>>20, documents, len(file)>>10, most>>20)
	} else {
		t.Logf("%d MiB", grown>>20)
	}
}
