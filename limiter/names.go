package limiter

import (
	"hash/maphash"
	"strings"
	"sync"
	"time"
)

// familyShard is a part of a family's names, small enough to be looked through
// in well under a millisecond.
type familyShard struct {
	mu      sync.RWMutex // taken before any budget's lock
	budgets map[string]*Budget
	kept    int       // names that were left by the last sweep
	most    int       // names there were at some time since the map was made
	swept   time.Time // when that was
	_       [8]byte   // apart from the next one's lock
}

// namesPerShard is how many names a shard has when the family is full.
const namesPerShard = 256

// mostShards bounds what an empty family costs, whatever it may grow to.
const mostShards = 1 << 16

func (f *Family) shard(name string) *familyShard {
	return &f.shards[maphash.String(f.seed, name)&uint64(len(f.shards)-1)]
}

func (f *Family) find(name string) *Budget {
	s := f.shard(name)
	s.mu.RLock()
	b := s.budgets[name]
	s.mu.RUnlock()
	return b
}

func (f *Family) budget(name string, t *terms) *Budget {
	if b := f.find(name); b != nil {
		return b
	}
	return f.make(name, t, false)
}

// make makes the budget of a name that was not there a moment ago.
func (f *Family) make(name string, t *terms, always bool) *Budget {
	s := f.shard(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.budgets[name]; b != nil {
		return b
	}
	full := f.names.Load() >= f.most
	if len(s.budgets) >= 2*s.kept+16 || full && time.Since(s.swept) > time.Second {
		f.sweep(s)
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
	s.budgets[name] = b
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
