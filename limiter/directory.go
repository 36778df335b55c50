package limiter

import (
	"sync"
	"sync/atomic"
)

// directory has the part for each ending of a hash. A part that is full is
// split in two, by one more bit of the hash, and two that have become nearly
// empty are merged: so a family has as many parts as its names need, and with
// few names all that leads to them stays in the processor's caches. A part of
// few bits is there many times over. (Extendible hashing: Fagin, Nievergelt,
// Pippenger and Strong, ACM TODS 4, 1979.)
type directory struct {
	mu    sync.Mutex // taken after a part's lock, to change what is below
	parts atomic.Pointer[[]atomic.Pointer[part]]
}

func (d *directory) init() {
	parts := make([]atomic.Pointer[part], 1)
	parts[0].Store(new(part))
	d.parts.Store(&parts)
}

// at returns the part of a hash. It may be gone by the time it is read: what is
// found there is still right, and what is not must be looked for again.
func (d *directory) at(hash uint64) *part {
	parts := *d.parts.Load()
	return parts[hash&uint64(len(parts)-1)].Load()
}

// lockAt returns the part of a hash, locked.
func (d *directory) lockAt(hash uint64) *part {
	for {
		p := d.at(hash)
		p.mu.Lock()
		if !p.gone {
			return p
		}
		p.mu.Unlock()
	}
}

// put puts a part where the hashes with its bits in common with one of them
// lead. What was there is gone, and must be locked.
func (d *directory) put(p *part, hash uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	old := *d.parts.Load()
	parts := old
	if uint64(len(parts)) < 1<<p.bits {
		parts = make([]atomic.Pointer[part], 2*len(old))
		for i := range parts {
			parts[i].Store(old[i%len(old)].Load())
		}
	}
	step := uint64(1) << p.bits
	for i := hash & (step - 1); i < uint64(len(parts)); i += step {
		parts[i].Load().gone = true
		parts[i].Store(p)
	}
	d.parts.Store(&parts)
}

// split puts two in the place of a full part, which is locked.
func (d *directory) split(p *part, hash uint64) {
	bit := uint64(1) << p.bits
	for _, side := range []uint64{0, bit} {
		half := &part{bits: p.bits + 1, kept: p.kept / 2, swept: p.swept}
		half.addAll(p, func(hash uint64, _ *Budget) bool { return hash&bit == side })
		d.put(half, hash&^bit|side)
	}
}

// thin puts a part with only those names that keep wants in the place of one,
// which is locked, and takes in the parts beside it as long as little is left
// of both together.
func (d *directory) thin(p *part, hash uint64, keep func(*Budget) bool) {
	thinner := &part{bits: p.bits, swept: p.swept}
	thinner.addAll(p, func(_ uint64, b *Budget) bool { return keep(b) })
	thinner.kept = thinner.n
	var beside []*part
	for thinner.bits > 0 {
		// Whoever holds the other one may want this one, too: no waiting.
		other := d.at(hash ^ 1<<(thinner.bits-1))
		if !other.mu.TryLock() {
			break
		}
		beside = append(beside, other)
		if other.gone || other.bits != thinner.bits || thinner.n+other.n > mostPerPart/2 {
			break
		}
		thinner.addAll(other, func(uint64, *Budget) bool { return true })
		thinner.kept += other.kept
		thinner.bits--
	}
	d.put(thinner, hash)
	for _, other := range beside {
		other.mu.Unlock()
	}
}

// each calls a function with every part, locked. Those that are split or merged
// meanwhile are met in their new shape, or were met before.
func (d *directory) each(do func(p *part, hash uint64)) { d.eachUnder(0, 0, do) }

func (d *directory) eachUnder(hash uint64, bits uint, do func(*part, uint64)) {
	p := d.lockAt(hash)
	if p.bits <= bits {
		do(p, hash)
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	d.eachUnder(hash, bits+1, do)
	d.eachUnder(hash|1<<bits, bits+1, do)
}
