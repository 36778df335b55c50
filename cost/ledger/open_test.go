package ledger

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTheOpenSetKnowsItsOldest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	s, want := newOpenSet(), map[ID]*Begin{}
	for range 20_000 {
		id := ID(random.IntN(500) + 1)
		b := &Begin{Exchange: id}
		if random.IntN(3) > 0 {
			s.add(b)
			if want[id] == nil {
				want[id] = b
			}
		} else {
			if got := s.end(id); got != want[id] {
				t.Fatalf("end %d: %v, want %v", id, got, want[id])
			}
			delete(want, id)
		}
		oldest := ID(0)
		if len(want) > 0 {
			oldest = slices.Min(slices.Collect(maps.Keys(want)))
		}
		if got := s.oldest(); got != oldest {
			t.Fatalf("the oldest is said to be %d, and is %d", got, oldest)
		}
	}
}

// One that never ends must not keep those in memory that have ended since.
func TestTheOpenSetForgetsWhatHasEnded(t *testing.T) {
	s := newOpenSet()
	s.add(&Begin{Exchange: 1})
	most := 0
	for id := ID(2); id < 100_000; id++ {
		s.add(&Begin{Exchange: id})
		if id > 100 {
			s.end(id - 90)
		}
		if s.oldest() != 1 {
			t.Fatalf("the oldest is said to be %d, and is 1", s.oldest())
		}
		most = max(most, len(s.ids))
	}
	if most > 2000 {
		t.Errorf("%d ids are kept in memory for some 100 exchanges that are open", most)
	}
}
