package limiter

import (
	"sync"
	"sync/atomic"
	"time"
)

// part is a part of a family's names: a hash table that can be read while it is
// written. Its slots are filled once and never emptied; whoever drops names, or
// finds it full, puts others in its place (see directory.go). It is small
// enough to be looked through in well under a millisecond.
//
// Against a map behind a lock it saves, for each look-up, the lock and places
// in memory that have to be read before one knows which to read next: with many
// names, that is what a look-up costs.
type part struct {
	slots [slotsPerPart]slot

	mu    sync.Mutex // taken before any budget's lock; guards all below
	bits  uint       // the names' hashes have so many low bits in common; never changes
	n     int        // slots that are filled
	kept  int        // names that were left by the last sweep
	swept time.Time  // when that was
	gone  bool       // its names are elsewhere, and it stays as it is
}

// slot is free as long as it has no budget. The hash is written before that,
// and spares readers the look at another name.
type slot struct {
	hash   uint64
	budget atomic.Pointer[Budget]
}

// slotsPerPart makes a part as large as a page of the allocator, 8 kB.
const slotsPerPart = 508

// mostPerPart leaves enough slots free for a search to end soon.
const mostPerPart = slotsPerPart * 3 / 4

// first is where the search for a hash begins. The high half: all names of a
// part may have much of the low one in common.
func first(hash uint64) int { return int(hash >> 32 % slotsPerPart) }

func next(i int) int {
	if i++; i < slotsPerPart {
		return i
	}
	return 0
}

// find returns the budget of a name, nil if there is none. It needs no lock.
func (p *part) find(hash uint64, name string) *Budget {
	for i := first(hash); ; i = next(i) {
		s := &p.slots[i]
		b := s.budget.Load()
		if b == nil || s.hash == hash && b.name == name {
			return b
		}
	}
}

// add adds a budget that is not there. The part must not be full.
func (p *part) add(hash uint64, b *Budget) {
	i := first(hash)
	for p.slots[i].budget.Load() != nil {
		i = next(i)
	}
	p.slots[i].hash = hash
	p.slots[i].budget.Store(b)
	p.n++
}

// addAll adds those of another part that keep wants.
func (p *part) addAll(from *part, keep func(hash uint64, b *Budget) bool) {
	for i := range from.slots {
		s := &from.slots[i]
		if b := s.budget.Load(); b != nil && keep(s.hash, b) {
			p.add(s.hash, b)
		}
	}
}
