package soak

import (
	"fmt"
	"math"
	"testing"

	"github.com/tokenfare/tokenfare/test/harness"
)

// figures are what a program has open, and what of it must go back to what it was.
type figures struct {
	goroutines, descriptors, open int
	rss                           int64 // all that is resident: what is kept, garbage, and what Go has not given back yet
	live                          int64 // of Go's heap, what is kept; 0: it was not looked at
}

func measure(t testing.TB, p *harness.Program) figures {
	t.Helper()
	read := reader(t, p)
	return figures{
		goroutines: int(read("go_goroutines")), open: int(read("tokenfare_open_reservations")),
		descriptors: p.Descriptors(t), rss: p.RSS(t),
	}
}

// reader reads metrics of one instant.
func reader(t testing.TB, p *harness.Program) func(name string) int64 {
	t.Helper()
	m := p.Metrics(t)
	return func(name string) int64 {
		n, found := m.Sum(name)
		if !found {
			t.Fatalf("there is no metric %s", name)
		}
		return int64(n)
	}
}

// collections is the metric that counts how often garbage was collected.
const collections = "go_gc_duration_seconds_count"

// liveHeap is what the program keeps in Go's heap. Garbage gathers for many megabytes, so it is asked for metrics, which makes some, until it
// has been collected a few times: the least that there is soon afterwards is what is kept, but for what the asking takes itself. What pools hold
// goes with the second cycle, and what the collector has yet to free of one is gone in the next.
func liveHeap(t testing.TB, p *harness.Program) int64 {
	t.Helper()
	const cycles, looks = 3, 8
	least, from := int64(math.MaxInt64), reader(t, p)(collections)
	harness.Eventually(t, "garbage is collected", func() bool {
		for range 20 { // between two ticks
			if reader(t, p)(collections) >= from+cycles {
				return true
			}
		}
		return false
	})
	for range looks {
		least = min(least, reader(t, p)("go_memstats_heap_alloc_bytes"))
	}
	return least
}

func (f figures) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %d reservations, %d MiB resident, %d KiB kept in the heap", f.goroutines, f.descriptors, f.open, f.rss>>20, f.live>>10)
}

// few are goroutines and descriptors that come and go by themselves: a look at the metrics has some, and so has the ledger.
const few = 12

// awaitBase waits until the program has let go of everything that calls had: all but what it may keep, as connections that
// nobody uses are closed by both sides. So much more of the heap may be live. What is resident besides is bounded, too, but not sharply: Go gives
// memory back when it likes.
func awaitBase(t testing.TB, p *harness.Program, base figures, heap int64, disconnect func()) figures {
	t.Helper()
	memory := int64(128 << 20)
	if harness.Race {
		memory *= 6
	}
	var now figures
	back := func() bool {
		disconnect()
		now = measure(t, p)
		return now.open == 0 && now.goroutines <= base.goroutines+few && now.descriptors <= base.descriptors+few && now.rss <= base.rss+memory
	}
	defer func() {
		if t.Failed() {
			t.Logf("it had %s, and has %s", base, now)
		}
	}()
	harness.Eventually(t, "goroutines, descriptors, reservations and memory are what they were", back)
	harness.Eventually(t, "what is kept in the heap is what it was", func() bool {
		now.live = liveHeap(t, p)
		return now.live <= base.live+heap
	})
	return now
}
