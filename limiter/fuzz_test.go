package limiter

import (
	"math"
	"math/big"
	"testing"
	"time"
)

// testBucket returns a bucket without a limiter, in the state given.
func testBucket(r TokenBucket, deficit wide) *bucket {
	b := new(Budget).init("b", 1, newTerms(nil, "b", r), instant{})
	b.deficit = deficit
	return (*bucket)(b)
}

// big returns a over what it counts parts of.
func (a wide) big(every int64) *big.Rat {
	n := new(big.Int).Lsh(new(big.Int).SetUint64(a.hi), 64)
	n.Or(n, new(big.Int).SetUint64(a.lo))
	return new(big.Rat).SetFrac(n, big.NewInt(every))
}

// FuzzBucketArithmetic holds refill and wait against exact rationals, over the
// whole range of every number.
func FuzzBucketArithmetic(f *testing.F) {
	const most = math.MaxInt64
	f.Add(int64(10), int64(1), int64(3), int64(5), int64(2), int64(4), int64(3))
	f.Add(int64(most-2), int64(most), int64(most), int64(most), int64(most-1), int64(most-1), int64(1))
	f.Add(int64(most-2), int64(1), int64(most), int64(1), int64(most-1), int64(1), int64(1))
	f.Add(int64(most-2), int64(most), int64(1), int64(most), int64(0), int64(most-1), int64(most-1))
	f.Add(int64(1000), int64(1000), int64(1_000_000_000), int64(4_295_000_000_000), int64(0), int64(1000), int64(1000))
	f.Fuzz(func(t *testing.T, whole, refill, every, dt, part, size, n int64) {
		r := TokenBucket{Size: size, Refill: refill, Every: time.Duration(every)}
		if whole < 0 || whole >= mostCounted || dt < 0 || part < 0 || n < 1 || n > size || r.Validate() != nil {
			return
		}
		b := testBucket(r, product(whole, every).plus(wide{lo: uint64(part % every)}))
		deficit := b.deficit.big(every)
		after := func(dt int64) *big.Rat {
			back := new(big.Rat).Mul(new(big.Rat).SetInt64(dt), big.NewRat(refill, every))
			left := back.Sub(deficit, back)
			if left.Sign() < 0 {
				left.SetInt64(0)
			}
			return left
		}

		goal := new(big.Rat).SetInt64(size - n)
		wait := int64(b.wait(n))
		if wait < 0 {
			t.Fatalf("a wait of %d", wait)
		}
		if wait != most && after(wait).Cmp(goal) > 0 {
			t.Fatalf("after %d still %v, want at most %d", wait, after(wait), size-n)
		}
		if wait > 0 && after(wait-1).Cmp(goal) <= 0 {
			t.Fatalf("a wait of %d is too long", wait)
		}
		if left := new(big.Rat).SetInt64(b.after(time.Duration(dt))); left.Cmp(after(dt)) < 0 ||
			new(big.Rat).Sub(left, after(dt)).Cmp(big.NewRat(1, 1)) >= 0 {
			t.Fatalf("%v left after %d, want %v rounded up", left, dt, after(dt))
		}

		twice := testBucket(r, b.deficit)
		b.advance(instant{ns: dt})
		if got, want := b.deficit.big(every), after(dt); got.Cmp(want) != 0 {
			t.Fatalf("refilled to %v, want %v", got, want)
		}
		twice.advance(instant{ns: dt / 3})
		twice.advance(instant{ns: dt})
		if twice.deficit != b.deficit {
			t.Fatalf("refilled in two steps to %v, in one to %v", twice.deficit, b.deficit)
		}
	})
}

// FuzzLane plays the same calls on a bucket's fast lane and on the bucket
// itself: each must decide the same, and both end in the same state.
func FuzzLane(f *testing.F) {
	f.Add(int64(10), int64(1), int64(time.Second), []byte{1, 5, 200, 3, 3, 3, 0, 9, 255, 1})
	f.Add(int64(200_000), int64(200_000), int64(time.Minute), []byte{255, 255, 0, 255, 255, 255, 1, 1})
	f.Add(int64(1000), int64(7), int64(13), []byte{0, 250, 0, 250, 0, 250, 1, 250, 0, 250})
	f.Fuzz(func(t *testing.T, size, refill, every int64, steps []byte) {
		r := TokenBucket{Size: size, Refill: refill, Every: time.Duration(every)}
		if r.Validate() != nil || len(steps) > 1000 {
			return
		}
		terms := newTerms(nil, "b", r)
		if terms.lane.until == 0 {
			return
		}
		fast := new(Budget).init("fast", 1, terms, instant{})
		slow := testBucket(r, wide{})
		fast.openLane()
		now := int64(0)
		for i := 0; i+1 < len(steps); i += 2 {
			now += int64(steps[i]) * int64(steps[i]) * (every/int64(200) + 1)
			n := min(size, int64(steps[i+1])*(size/500+1))
			if now >= terms.lane.until || n == 0 {
				break
			}
			slow.advance(instant{ns: now})
			want := slow.wait(n) == 0
			if want {
				slow.spend(n)
			}
			v := fast.lane.Load()
			if whole, fits := terms.lane.charged(v, now, n); fits != want {
				t.Fatalf("step %d at %d: %d fits the lane: %v, the bucket: %v", i, now, n, fits, want)
			} else if fits && !fast.lane.CompareAndSwap(v, whole) {
				t.Fatal("nobody else is here")
			}
			if i%8 == 6 {
				fast.leaveLane(fast.lane.Swap(laneClosed), now)
				if fast.deficit != slow.deficit {
					t.Fatalf("step %d at %d: the lane left a deficit of %v, the bucket has %v", i, now, fast.deficit, slow.deficit)
				}
				fast.openLane()
			}
		}
	})
}

// FuzzRescale checks that a change of period rounds a deficit up and what may
// be given back down, by less than one part.
func FuzzRescale(f *testing.F) {
	f.Add(int64(1), int64(2), int64(3), int64(7))
	f.Add(int64(0), int64(math.MaxInt64-1), int64(math.MaxInt64), int64(1))
	f.Add(int64(5), int64(math.MaxInt64-1), int64(math.MaxInt64), int64(math.MaxInt64-1))
	f.Fuzz(func(t *testing.T, whole, part, from, to int64) {
		if whole < 0 || whole >= mostCounted || part < 0 || from < 1 || to < 1 {
			return
		}
		a := product(whole, from).plus(wide{lo: uint64(part % from)})
		up, down := a.rescaled(from, to, true), a.rescaled(from, to, false)
		exact := a.big(from)
		if up.big(to).Cmp(exact) < 0 || down.big(to).Cmp(exact) > 0 {
			t.Fatalf("%v became %v and %v", exact, up.big(to), down.big(to))
		}
		if gap := new(big.Rat).Sub(up.big(to), down.big(to)); gap.Cmp(big.NewRat(1, to)) > 0 {
			t.Fatalf("rounded by %v", gap)
		}
	})
}
