package limiter

import "sync/atomic"

// table is a hash table of budgets by name that can be read while it is
// written: slots are filled once and never emptied; whoever drops names makes a
// new table. Against a map behind a lock it saves, for each look-up, the lock
// and three places in memory, each of which has to be known before the next
// can be fetched: half of the time, when there are many names.
type table struct {
	slots []slot // as many as a power of two, at most three in four full
	n     int    // guarded by the shard's lock
}

// slot is free as long as it has no budget. The hash is written before that,
// and spares readers the look at another name.
type slot struct {
	hash   uint64
	budget atomic.Pointer[Budget]
}

// newTable returns a table with room for n budgets.
func newTable(n int) *table {
	size := 8
	for 3*size < 4*n {
		size *= 2
	}
	return &table{slots: make([]slot, size)}
}

// find returns the budget of a name, nil if there is none.
func (t *table) find(hash uint64, name string) *Budget {
	last := uint64(len(t.slots) - 1)
	for i := hash >> 32 & last; ; i = (i + 1) & last {
		s := &t.slots[i]
		b := s.budget.Load()
		if b == nil || s.hash == hash && b.name == name {
			return b
		}
	}
}

// full reports whether there is no room for another.
func (t *table) full() bool { return 4*(t.n+1) > 3*len(t.slots) }

// add adds a budget that is not there. The table must not be full.
func (t *table) add(hash uint64, b *Budget) {
	last := uint64(len(t.slots) - 1)
	i := hash >> 32 & last
	for t.slots[i].budget.Load() != nil {
		i = (i + 1) & last
	}
	t.slots[i].hash = hash
	t.slots[i].budget.Store(b)
	t.n++
}

// copyOf returns a table with room for n budgets, and those of t that keep
// wants.
func (t *table) copyOf(n int, keep func(*Budget) bool) *table {
	fresh := newTable(n)
	for i := range t.slots {
		if b := t.slots[i].budget.Load(); b != nil && keep(b) {
			fresh.add(t.slots[i].hash, b)
		}
	}
	return fresh
}
