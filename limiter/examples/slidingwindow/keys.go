package slidingwindow

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/tokenfare/tokenfare/limiter"
)

// keys are the keys that have usage, and some that had. A family makes the
// budget of whatever name it is asked about, and would make it under a limit;
// but who asks whether a key is allowed knows none, and the first limit is to
// win.
type keys struct {
	memory *limiter.Memory
	seed   maphash.Seed
	shards [64]shard
	common atomic.Pointer[limiter.Budget] // what newcomers share, if there ever were too many keys
}

// shard is a part of the keys. Who records usage holds its lock for reading, so
// that no key is forgotten meanwhile; nobody waits for others who do so, too.
type shard struct {
	mu    sync.RWMutex
	known map[string]*limiter.Budget
	kept  int // keys left by the last sweep
}

func newKeys(m *limiter.Memory) *keys {
	k := &keys{memory: m, seed: maphash.MakeSeed()}
	for i := range k.shards {
		k.shards[i].known = make(map[string]*limiter.Budget)
	}
	return k
}

func (k *keys) shard(key string) *shard {
	return &k.shards[maphash.String(k.seed, key)%uint64(len(k.shards))]
}

// find returns the budget of a key, nil if it has no usage.
func (k *keys) find(key string) *limiter.Budget {
	s := k.shard(key)
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.known[key]
}

// with calls f with the budget of a key, and makes it known if need be.
func (k *keys) with(key string, create func() *limiter.Budget, f func(*limiter.Budget) error) error {
	s := k.shard(key)
	s.mu.RLock()
	if b := s.known[key]; b != nil {
		defer s.mu.RUnlock()
		return f(b)
	}
	s.mu.RUnlock()

	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.known[key]
	if b == nil {
		if len(s.known) >= 2*s.kept+16 {
			s.sweep(k.memory)
		}
		if b = create(); b.Name() == key {
			s.known[b.Name()] = b
		} else {
			k.common.Store(b)
		}
	}
	return f(b)
}

// sweep forgets keys without usage, part by part.
func (k *keys) sweep() {
	for i := range k.shards {
		s := &k.shards[i]
		s.mu.Lock()
		s.sweep(k.memory)
		s.mu.Unlock()
	}
}

// sweep is called with s.mu held.
func (s *shard) sweep(m *limiter.Memory) {
	charges := make([]limiter.Charge, 1)
	for key, b := range s.known {
		charges[0].Budget = b
		if _, err := m.Peek(context.Background(), charges); err != nil {
			panic("BUG: slidingwindow: " + err.Error()) // nothing is wrong with asking
		}
		if charges[0].State.Used == 0 {
			delete(s.known, key)
		}
	}
	s.kept = len(s.known)
}
