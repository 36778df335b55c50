package upstream

import (
	"cmp"
	"hash/fnv"
	"io"
	"math"
	"slices"
)

// Member is one of several upstreams that do the same work.
type Member struct {
	Upstream *Upstream
	Name     string // by which callers find it; no other member has it
	Model    string // what it knows the model as; empty: as callers do
	Weight   int    // its share of the callers among those of its priority; at least 1
	Priority int    // whoever has the lowest is asked first, the others only where none of those can take a call
}

// Order returns the members of a pool, by their indices, in the order in which a call for a model is to be offered to them. It depends on
// sticky and on nothing else as long as all of them are ready: whatever is asked under one name goes to one upstream, as it
// has cached the beginning of those prompts and takes less for it; every process finds the same one, and where one upstream
// comes or goes, only its own share moves. Those that rest are last, and still there: all may rest, and one of them be well.
//
// The order within a priority is that of weighted rendezvous hashing (Schindelhauer, Schomaker: Weighted distributed hash tables,
// SPAA 2005, the logarithmic method).
func Order(pool []Member, sticky, model string) []int {
	type place struct {
		member, priority int
		rests            bool
		distance         float64
	}
	places := make([]place, len(pool))
	for i, m := range pool {
		places[i] = place{i, m.Priority, !m.Upstream.Ready(cmp.Or(m.Model, model)), distance(m.Name, sticky) / float64(m.Weight)}
	}
	slices.SortFunc(places, func(a, b place) int {
		switch {
		case a.rests != b.rests:
			if a.rests {
				return 1
			}
			return -1
		default:
			return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(a.distance, b.distance), cmp.Compare(a.member, b.member))
		}
	})
	order := make([]int, len(places))
	for i, p := range places {
		order[i] = p.member
	}
	return order
}

// distance is exponentially distributed over the names of upstreams, the same for the same two names everywhere.
func distance(name, sticky string) float64 {
	h := fnv.New64a()
	io.WriteString(h, name) //nolint:errcheck // it never fails
	h.Write([]byte{0})
	io.WriteString(h, sticky) //nolint:errcheck // nor this
	x := h.Sum64()            // whose high bits hang too little on the last bytes: splitmix64's finish spreads them
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return -math.Log((float64(x>>11) + 0.5) / (1 << 53))
}
