package limiter

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"
)

// TestPartAgainstMap fills a part beside a map, with hashes that many names have
// in common.
func TestPartAgainstMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	names, want := new(part), map[string]*Budget{}
	hash := func(name string) uint64 { return uint64(len(name)) << 32 * uint64(name[0]%4) }
	for step := range 5000 {
		name := strconv.Itoa(random.IntN(600))
		switch b := names.find(hash(name), name); {
		case b != want[name]:
			t.Fatalf("step %d: found %v for %q, want %v", step, b, name, want[name])
		case b == nil:
			if names.n == mostPerPart {
				old := names
				names = new(part)
				keep := func(b *Budget) bool { return b.name[len(b.name)-1]%2 == 0 }
				names.addAll(old, func(h uint64, b *Budget) bool {
					if h != hash(b.name) {
						t.Fatalf("%q has hash %d", b.name, h)
					}
					return keep(b)
				})
				for name, b := range want {
					if !keep(b) {
						delete(want, name)
					}
				}
			}
			want[name] = &Budget{name: name}
			names.add(hash(name), want[name])
		}
		if names.n != len(want) {
			t.Fatalf("step %d: %d names, want %d", step, names.n, len(want))
		}
	}
}

// TestPartIsReadWhileItIsWritten is for the race detector: a name is found or
// not, and never half.
func TestPartIsReadWhileItIsWritten(t *testing.T) {
	names := new(part)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for found := 0; found < mostPerPart; {
				found = 0
				for i := range mostPerPart {
					if b := names.find(uint64(i)<<29, strconv.Itoa(i)); b != nil {
						found++
						if b.id != uint64(i) {
							t.Errorf("%d under the name %d", b.id, i)
						}
					}
				}
			}
		})
	}
	for i := range mostPerPart {
		names.add(uint64(i)<<29, &Budget{name: strconv.Itoa(i), id: uint64(i)})
	}
	readers.Wait()
}

// check looks at every part of a family: each is where its bits lead, and only
// there; each name is where its hash leads.
func (f *Family) check(t *testing.T) {
	t.Helper()
	parts, seen, names := *f.directory.parts.Load(), map[*part]int{}, 0
	for i := range parts {
		p := parts[i].Load()
		if p.gone || 1<<p.bits > len(parts) || parts[i&(1<<p.bits-1)].Load() != p {
			t.Fatalf("ending %b of %d leads to a part of %d bits, gone %v", i, len(parts), p.bits, p.gone)
		}
		if seen[p]++; seen[p] == 1 {
			names += p.n
		}
		for j := range p.slots {
			b := p.slots[j].budget.Load()
			if b == nil {
				continue
			}
			if h := maphash.String(f.seed, b.name); h != p.slots[j].hash || f.directory.at(h) != p || b.lane.Load() == laneDead || f.find(b.name) != b {
				t.Fatalf("%q is in the wrong place", b.name)
			}
		}
	}
	for p, times := range seen {
		if times != len(parts)>>p.bits || p.n > mostPerPart {
			t.Fatalf("a part of %d bits and %d names is there %d times of %d", p.bits, p.n, times, len(parts))
		}
	}
	if names != f.Len() {
		t.Fatalf("%d names in the parts, %d in all", names, f.Len())
	}
}

func (f *Family) parts() int {
	n := 0
	f.directory.each(func(*part, uint64) { n++ })
	return n
}

func TestPartsComeAndGoWithTheNames(t *testing.T) {
	f := NewMemory().Family(FamilyOptions{Rule: TokenBucket{Size: 2, Refill: 1, Every: time.Hour}})
	const names = 20_000
	for round := range 2 {
		for i := range names {
			if ok, err := f.Budget(strconv.Itoa(i)).TryAcquire(t.Context(), 1+int64(i%2)); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		f.check(t)
		if n := f.parts(); n < names/mostPerPart || n > 4*names/mostPerPart {
			t.Fatalf("%d parts for %d names", n, names)
		}
		f.memory.Skip(time.Hour)
		if n := f.Sweep(); n != names/2 {
			t.Fatalf("%d dropped", n)
		}
		f.check(t)
		f.memory.Skip(time.Hour)
		if n := f.Sweep(); n != names/2 || f.Len() != 0 {
			t.Fatalf("%d dropped, %d left", n, f.Len())
		}
		f.check(t)
		if n := f.parts(); n != 1 {
			t.Fatalf("round %d: %d parts are left", round, n)
		}
	}
}

// TestPartsUnderWay makes, spends and drops names at once: no charge is lost,
// whatever part its name is in.
func TestPartsUnderWay(t *testing.T) {
	f := NewMemory().Family(FamilyOptions{Rule: Total{Limit: 1 << 40}})
	const names, goroutines = 3000, 4
	stop := make(chan struct{})
	var sweeping, callers sync.WaitGroup
	for range 2 {
		sweeping.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					f.Sweep()
				}
			}
		})
	}
	for g := range goroutines {
		callers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(g), 7))
			for _, i := range random.Perm(names) {
				f.Budget(fmt.Sprint("idle ", g, i)) // to be dropped
				if ok, err := f.Budget(fmt.Sprint("name ", i)).TryAcquire(t.Context(), 1); !ok || err != nil {
					t.Error(ok, err)
				}
			}
		})
	}
	callers.Wait()
	close(stop)
	sweeping.Wait()
	f.Sweep()
	f.check(t)
	for i := range names {
		charge := []Charge{{Budget: f.Find(fmt.Sprint("name ", i))}}
		if _, err := f.memory.Peek(t.Context(), charge); err != nil || charge[0].State.Used != goroutines {
			t.Fatalf("name %d: %+v, %v", i, charge[0].State, err)
		}
	}
	if f.Len() != names {
		t.Fatalf("%d names", f.Len())
	}
}

// TestBothPartsOfAMergeAreGone makes a name in a part that is just being merged
// into another: it must wait, and go where the names went.
func TestBothPartsOfAMergeAreGone(t *testing.T) {
	for side := range uint64(2) {
		pause := time.Millisecond
		for !mergeMeetsANewName(t, side, pause) {
			pause *= 2
		}
	}
}

// mergeMeetsANewName reports whether the merge had come as far as it should
// within a pause. If not, nothing was tested: looking whether a part is locked
// locks it, and a merge that finds it so leaves it alone.
func mergeMeetsANewName(t *testing.T, side uint64, pause time.Duration) bool {
	f := NewMemory().Family(FamilyOptions{Rule: Total{Limit: 1}})
	d := &f.directory
	p := d.lockAt(0)
	d.split(p, 0)
	p.mu.Unlock()
	name := ""
	for i := 0; maphash.String(f.seed, name)&1 != side; i++ {
		name = strconv.Itoa(i)
	}
	beside := d.at(side)
	var merging sync.WaitGroup
	defer merging.Wait()
	d.mu.Lock() // the merge gets as far as this
	merging.Go(func() {
		p := d.lockAt(1 - side)
		d.thin(p, 1-side, func(*Budget) bool { return true })
		p.mu.Unlock()
	})
	time.Sleep(pause)
	if beside.mu.TryLock() {
		beside.mu.Unlock()
		d.mu.Unlock()
		return false
	}
	made := make(chan *Budget)
	go func() { made <- f.Budget(name) }()
	time.Sleep(20 * time.Millisecond) // that it waits for a lock nothing can see; if it does not yet, less is tested
	d.mu.Unlock()
	if b := <-made; f.find(name) != b {
		t.Fatalf("side %d: the name is lost", side)
	}
	merging.Wait()
	f.check(t)
	return true
}
