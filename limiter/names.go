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
	crowded := f.isCrowded()
	if f.names.Add(1) > f.most && !crowded {
		crowded = true
		f.crowded.Store(true)
	}
	if crowded && !always {
		f.names.Add(-1)
		return f.overflow
	}
	name = strings.Clone(name) // it may be part of a whole request
	b := f.memory.newBudget(name, t)
	if names.full() {
		names = names.copyOf(2*names.n, func(*Budget) bool { return true })
		names.add(hash, b)
		s.table.Store(names)
	} else {
		names.add(hash, b)
	}
	return b
}

// isCrowded reports whether newcomers share a budget: from when a name found
// the family full until that budget is as good as new. Only then does a
// newcomer get one of its own, or it would have its share twice, and only then
// are names dropped again, or one that comes back would be worse off.
func (f *Family) isCrowded() bool {
	if !f.crowded.Load() {
		return false
	}
	o := f.overflow
	o.mu.Lock()
	defer o.mu.Unlock()
	o.enter(f.memory.now(o.terms.Load().wall))
	if o.counter().fresh() && (o.more == nil || o.more.open == 0) {
		f.crowded.Store(false)
	}
	return f.crowded.Load()
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
