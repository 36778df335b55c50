package limiter

import (
	"hash/maphash"
	"strings"
	"time"
)

func (f *Family) find(name string) *Budget {
	hash := maphash.String(f.seed, name)
	return f.directory.at(hash).find(hash, name)
}

func (f *Family) budget(name string, t *terms) *Budget {
	if b := f.find(name); b != nil {
		return b
	}
	return f.make(name, t, false)
}

// make makes the budget of a name that was not there a moment ago. With always
// it does, even if the family is full.
func (f *Family) make(name string, t *terms, always bool) *Budget {
	hash := maphash.String(f.seed, name)
	for swept := false; ; {
		p := f.directory.lockAt(hash)
		b := p.find(hash, name)
		full := f.names.Load() >= f.most
		switch {
		case b != nil:
		case !swept && (p.n >= 2*p.kept+16 || full && time.Since(p.swept) > time.Second):
			swept = true
			f.sweep(p, hash)
		case f.names.Add(1) > f.most && !always:
			f.names.Add(-1)
			f.shared.Add(1)
			b = f.newcomers
		case p.n == mostPerPart:
			f.names.Add(-1)
			f.directory.split(p, hash)
		default:
			b = f.memory.newBudget(strings.Clone(name), t) // the name may be part of a whole request
			if f.shared.Load() > 0 {
				b.inherit(f.newcomers)
			}
			p.add(hash, b)
		}
		p.mu.Unlock()
		if b != nil {
			return b
		}
	}
}

// live returns the budget that has taken the place of one whose state was
// dropped, and makes it if need be. Others are their own.
func (b *Budget) live() *Budget {
	if b.lane.Load() != laneDead {
		return b
	}
	t := b.terms.Load()
	return t.family.make(b.name, t, false) // which waits for whoever is just dropping it
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
