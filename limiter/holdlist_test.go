package limiter

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// fold is returnable spelled out: the holds are settled one after the other,
// oldest first, each giving back no more than the smallest deficit it has seen,
// or the present one, less what the older ones gave.
func (l *holdList) fold(deficit wide, every int64) wide {
	var back wide
	for h := l.oldest; h != nil; h = h.younger {
		back = least(back.plus(product(h.n, every)), least(h.least, deficit))
	}
	return back
}

// booked is a step in the life of a bucket: so many parts come back, or an
// amount was charged, which may later turn out to have been smaller.
type booked struct{ back, n int64 }

// replayed is the deficit in parts after all steps, from the beginning.
func replayed(steps []*booked, every int64) int64 {
	deficit := int64(0)
	for _, s := range steps {
		deficit = max(0, deficit-s.back) + s.n*every
	}
	return deficit
}

// TestReturnable plays histories on a bucket and asks, now and then, what would
// be there if all that is held were given back. The answer, part of which is
// kept from one time to the next, must be what the holds add up to and, as long
// as parts stay the same and nothing is rounded, what the history would have
// led to without them.
func TestReturnable(t *testing.T) {
	type open struct {
		*hold
		entry *booked
	}
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 5))
		rule := TokenBucket{Size: 1 + random.Int64N(60), Refill: 1 + random.Int64N(5), Every: time.Duration(1 + random.Int64N(6))}
		b := testBucket(rule, wide{})
		var history []*booked
		var held []open
		now, rescales, askEvery := int64(0), seed%2 == 1, 1+random.IntN(6)
		for step := range 600 {
			n := 1 + random.Int64N(rule.Size)
			switch random.IntN(10) {
			case 0, 1:
				dt := random.Int64N(4 * int64(rule.Every))
				now += dt
				b.advance(instant{ns: now})
				history = append(history, &booked{back: dt * rule.Refill})
			case 2:
				b.spend(n)
				history = append(history, &booked{n: n})
			case 3, 4, 5, 6:
				n = 1 + n/8
				if b.wait(n) > 0 {
					break
				}
				o := open{&hold{budget: (*Budget)(b), n: n}, &booked{n: n}}
				b.hold(o.hold)
				held, history = append(held, o), append(history, o.entry)
			case 7, 8:
				if len(held) == 0 {
					break
				}
				i := random.IntN(len(held))
				o := held[i]
				held = slices.Delete(held, i, i+1)
				o.entry.n = random.Int64N(o.n + 1)
				b.settle(o.hold, o.entry.n)
			default:
				rule.Size, rule.Refill = 1+random.Int64N(60), 1+random.Int64N(5)
				if rescales {
					rule.Every = time.Duration(1 + random.Int64N(6))
				}
				(*Budget)(b).setTerms(b.terms.Load().revised("b", rule, 2), instant{ns: now})
			}
			every := int64(rule.Every)
			if b.more == nil || random.IntN(askEvery) > 0 {
				continue
			}
			m := b.more
			got := m.holds.returnable(b.deficit, product(m.held, every), every)
			if want := m.holds.fold(b.deficit, every); got != want {
				t.Fatalf("seed %d, step %d, %d holds: %v may come back, want %v", seed, step, len(held), got, want)
			}
			if m.holds.stale {
				t.Fatalf("seed %d, step %d: the next refusal looks through %d holds again", seed, step, len(held))
			}
			if rescales {
				continue
			}
			if want := replayed(history, every); b.deficit != product(want, 1) {
				t.Fatalf("seed %d, step %d: a deficit of %v, want %d", seed, step, b.deficit, want)
			}
			kept := make([]int64, len(held))
			for i, o := range held {
				kept[i], o.entry.n = o.entry.n, 0
			}
			rest := replayed(history, every)
			for i, o := range held {
				o.entry.n = kept[i]
			}
			if b.deficit.minus(got) != product(rest, 1) {
				t.Fatalf("seed %d, step %d, %d holds: %v of %v may come back, want all but %d", seed, step, len(held), got, b.deficit, rest)
			}
			n = min(n, rule.Size)
			if got, want := b.fitsWithoutHeld(n), rest+n*every <= rule.Size*every; got != want {
				t.Fatalf("seed %d, step %d, %d holds: %d would fit without them: %v, want %v", seed, step, len(held), n, got, want)
			}
		}
	}
}
