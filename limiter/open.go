package limiter

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// register lists the open reservations, for operators. It is split by the
// instant of their making, so that callers do not queue for it.
type register [16]struct {
	mu             sync.Mutex
	oldest, newest *Reservation
	n              int
	_              [32]byte // apart from the next one's lock
}

// registration is a reservation's place in the register, guarded by its lock.
type registration struct{ older, newer *Reservation }

func (g *register) shard(r *Reservation) int { return int(uint64(r.since)>>6) % len(g) }

func (g *register) add(r *Reservation) {
	s := &g[g.shard(r)]
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.entry.older = s.newest; s.newest == nil {
		s.oldest = r
	} else {
		s.newest.entry.newer = r
	}
	s.newest = r
	s.n++
}

func (g *register) remove(r *Reservation) {
	s := &g[g.shard(r)]
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &r.entry
	if e.older == nil {
		s.oldest = e.newer
	} else {
		e.older.entry.newer = e.newer
	}
	if e.newer == nil {
		s.newest = e.older
	} else {
		e.newer.entry.older = e.older
	}
	*e = registration{}
	s.n--
}

// all returns the reservations that are open, oldest first.
func (g *register) all() []*Reservation {
	var all []*Reservation
	for i := range g {
		s := &g[i]
		s.mu.Lock()
		for r := s.oldest; r != nil; r = r.entry.newer {
			all = append(all, r)
		}
		s.mu.Unlock()
	}
	slices.SortStableFunc(all, func(a, b *Reservation) int { return cmp.Compare(a.since, b.since) })
	return all
}

// OpenReservation describes a reservation that was neither settled nor
// cancelled yet.
type OpenReservation struct {
	Owner   string        // as [WithOwner] had it, "" if it did not
	Age     time.Duration // since it was made
	Charges []OpenCharge  // with what was drawn, in no particular order
}

// OpenCharge is what a reservation holds of one budget.
type OpenCharge struct {
	Budget string // its name
	N      int64
}

// Open lists the reservations neither settled nor cancelled yet, oldest first.
// It stops nobody: reservations made or ended meanwhile may be in it or not.
func (m *Memory) Open() []OpenReservation {
	now := m.now(false).ns
	list := []OpenReservation{}
	for _, r := range m.open.all() {
		r.mu.Lock()
		if !r.ended {
			o := OpenReservation{Owner: r.owner, Age: max(0, time.Duration(now-r.since))}
			for i := range r.holds {
				h := &r.holds[i]
				o.Charges = append(o.Charges, OpenCharge{h.budget.name, r.taken(h)})
			}
			list = append(list, o)
		}
		r.mu.Unlock()
	}
	return list
}

// OpenCount returns the number of reservations neither settled nor cancelled
// yet.
func (m *Memory) OpenCount() int {
	n := 0
	for i := range m.open {
		s := &m.open[i]
		s.mu.Lock()
		n += s.n
		s.mu.Unlock()
	}
	return n
}

// SettleOlder ends the reservations of at least that age at the whole amount
// they hold, as if all of it had been used, and returns how many. It is for
// callers that lost track of their reservations: set the age well above the
// longest call, as what such a call still uses is not counted any more.
func (m *Memory) SettleOlder(age time.Duration) int {
	now, n := m.now(false).ns, 0
	for _, r := range m.open.all() {
		if now-r.since >= int64(age) && r.end(nil, true) {
			n++
		}
	}
	return n
}

// taken returns what a reservation holds of a budget, reserved and drawn.
func (r *Reservation) taken(h *hold) int64 {
	n := h.n
	for _, draw := range r.drawn {
		for i := range draw {
			if draw[i].budget == h.budget {
				n = addSaturated(n, draw[i].n)
			}
		}
	}
	return n
}

type ownerKey struct{}

// WithOwner returns a context that says who a reservation is for, as
// [Memory.Open] lists it: a name for operators, never a secret.
func WithOwner(ctx context.Context, owner string) context.Context {
	return context.WithValue(ctx, ownerKey{}, owner)
}

func ownerOf(ctx context.Context) string {
	owner, _ := ctx.Value(ownerKey{}).(string)
	return owner
}
