package limiter

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// familyShard is a part of a family's names, small enough to be looked through
// in well under a millisecond.
type familyShard struct {
	table atomic.Pointer[table] // read by anybody, changed with mu held

	mu    sync.Mutex // taken before any budget's lock
	kept  int        // names that were left by the last sweep
	swept time.Time  // when that was
	_     [16]byte   // apart from the next one
}

// namesPerShard is how many names a shard has when the family is full.
const namesPerShard = 256

// mostShards bounds what an empty family costs, whatever it may grow to.
const mostShards = 1 << 16

// shard returns the part that a name belongs to, and the name's hash.
func (f *Family) shard(name string) (*familyShard, uint64) {
	hash := maphash.String(f.seed, name)
	return &f.shards[hash&uint64(len(f.shards)-1)], hash
}

func (f *Family) find(name string) *Budget {
	s, hash := f.shard(name)
	return s.table.Load().find(hash, name)
}

func (f *Family) budget(name string, t *terms) *Budget {
	if b := f.find(name); b != nil {
		return b
	}
	return f.make(name, t, false)
}

// make makes the budget of a name that was not there a moment ago.
func (f *Family) make(name string, t *terms, always bool) *Budget {
	s, hash := f.shard(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	names := s.table.Load()
	if b := names.find(hash, name); b != nil {
		return b
	}
	full := f.names.Load() >= f.most
	if names.n >= 2*s.kept+16 || full && time.Since(s.swept) > time.Second {
		f.sweep(s)
		names = s.table.Load()
	}
	if f.names.Add(1) > f.most && !always {
		f.names.Add(-1)
		f.shared.Add(1)
		return f.newcomers
	}
	name = strings.Clone(name) // it may be part of a whole request
	b := f.memory.newBudget(name, t)
	if f.shared.Load() > 0 {
		b.inherit(f.newcomers)
	}
	if names.full() {
		names = names.copyOf(2*names.n, func(*Budget) bool { return true })
		names.add(hash, b)
		s.table.Store(names)
	} else {
		names.add(hash, b)
	}
	return b
}

// live returns the budget that has taken the place of one whose state was
// dropped, and makes it if need be. Others are their own.
func (b *Budget) live() *Budget {
	if b.lane.Load() != laneDead {
		return b
	}
	t := b.terms.Load()
	return t.family.budget(b.name, t)
}

// lockLive locks a budget, or the one that has taken its place.
func (b *Budget) lockLive() *Budget {
	for {
		b.mu.Lock()
		if b.lane.Load() != laneDead {
			return b
		}
		b.mu.Unlock()
		b = b.live()
	}
}
