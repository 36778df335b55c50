package limiter

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
)

// TestTableAgainstMap fills and thins out a table beside a map, with hashes
// that many names have in common.
func TestTableAgainstMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	names, want := newTable(0), map[string]*Budget{}
	hash := func(name string) uint64 { return uint64(len(name)) << 32 * uint64(name[0]%4) }
	for step := range 3000 {
		name := strconv.Itoa(random.IntN(400))
		switch b := names.find(hash(name), name); {
		case b != want[name]:
			t.Fatalf("step %d: found %v for %q, want %v", step, b, name, want[name])
		case b == nil:
			if names.full() {
				names = names.copyOf(2*names.n, func(*Budget) bool { return true })
			}
			want[name] = &Budget{name: name}
			names.add(hash(name), want[name])
		}
		if step%500 == 499 {
			keep := func(b *Budget) bool { return b.name[len(b.name)-1] != '7' }
			for name, b := range want {
				if !keep(b) {
					delete(want, name)
				}
			}
			names = names.copyOf(len(want), keep)
		}
		if names.n != len(want) {
			t.Fatalf("step %d: %d names, want %d", step, names.n, len(want))
		}
	}
	for name, b := range want {
		if names.find(hash(name), name) != b {
			t.Errorf("%q is lost", name)
		}
	}
}

// TestTableIsReadWhileWritten has readers find nothing or the right budget,
// whatever the writer is at.
func TestTableIsReadWhileWritten(t *testing.T) {
	f := NewMemory().Family(FamilyOptions{Rule: Total{Limit: 1}, Most: 10_000})
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				name := strconv.Itoa(i % 5000)
				if b := f.find(name); b != nil && b.name != name {
					t.Errorf("found %q for %q", b.name, name)
				}
			}
		})
	}
	for i := range 5000 {
		f.Budget(strconv.Itoa(i))
		if i%100 == 0 {
			f.Sweep()
		}
	}
	close(done)
	readers.Wait()
}
