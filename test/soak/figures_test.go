package soak

import (
	"fmt"
	"testing"

	"github.com/tokenfare/tokenfare/test/harness"
)

// figures are what a program has open, and what of it must go back to what it was.
type figures struct {
	goroutines, descriptors, open int
	rss, heap                     int64
}

func measure(t testing.TB, p *harness.Program) figures {
	t.Helper()
	m := p.Metrics(t)
	read := func(name string) int64 {
		n, found := m.Sum(name)
		if !found {
			t.Fatalf("there is no metric %s", name)
		}
		return int64(n)
	}
	return figures{
		goroutines: int(read("go_goroutines")), open: int(read("tokenfare_open_reservations")), heap: read("go_memstats_heap_inuse_bytes"),
		descriptors: p.Descriptors(t), rss: p.RSS(t),
	}
}

func (f figures) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %d reservations, %d MiB resident, %d MiB heap", f.goroutines, f.descriptors, f.open, f.rss>>20, f.heap>>20)
}

// few are goroutines and descriptors that come and go by themselves: a look at the metrics has some, and so has the ledger.
const few = 12

// awaitBase waits until the program has let go of everything that calls had: all but what it may keep, as connections that
// nobody uses are closed by both sides. Memory may be that much more.
func awaitBase(t testing.TB, p *harness.Program, base figures, memory int64, disconnect func()) figures {
	t.Helper()
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
	return now
}
