package limiter

import (
	"math"
	"math/big"
	"testing"
	"time"
)

// FuzzBucketArithmetic holds refill and wait against exact rationals, over the
// whole range of every number.
func FuzzBucketArithmetic(f *testing.F) {
	const most = math.MaxInt64
	f.Add(int64(10), int64(1), int64(3), int64(5), int64(2))
	f.Add(int64(most-2), int64(most), int64(most), int64(most), int64(most-1))
	f.Add(int64(most-2), int64(1), int64(most), int64(1), int64(most-1))
	f.Add(int64(most-2), int64(most), int64(1), int64(most), int64(0))
	f.Add(int64(1000), int64(1000), int64(1_000_000_000), int64(4_295_000_000_000), int64(0))
	f.Fuzz(func(t *testing.T, whole, refill, every, dt, part int64) {
		if whole < 0 || whole >= mostCounted || refill < 1 || every < 1 || dt < 0 || part < 0 {
			return
		}
		r := TokenBucket{Size: 1, Refill: refill, Every: time.Duration(every)}
		deficit := amount{whole, part % every}
		exact := func(a amount) *big.Rat {
			return new(big.Rat).Add(new(big.Rat).SetInt64(a.whole), big.NewRat(a.part, every))
		}
		after := func(dt int64) *big.Rat {
			back := new(big.Rat).Mul(new(big.Rat).SetInt64(dt), big.NewRat(refill, every))
			left := back.Sub(exact(deficit), back)
			if left.Sign() < 0 {
				left.SetInt64(0)
			}
			return left
		}

		got := r.refilled(deficit, time.Duration(dt))
		if got.whole < 0 || got.part < 0 || got.part >= every {
			t.Fatalf("not an amount: %+v", got)
		}
		if want := after(dt); exact(got).Cmp(want) != 0 {
			t.Fatalf("refilled %v, want %v", exact(got), want)
		}
		// In two steps it comes to the same.
		if twice := r.refilled(r.refilled(deficit, time.Duration(dt/3)), time.Duration(dt-dt/3)); twice != got {
			t.Fatalf("refilled in two steps %+v, in one %+v", twice, got)
		}

		n := whole / 2
		goal := new(big.Rat).SetInt64(n)
		wait := int64(r.untilAtMost(deficit, n))
		if wait < 0 {
			t.Fatalf("a wait of %d", wait)
		}
		if wait != most && after(wait).Cmp(goal) > 0 {
			t.Fatalf("after %d still %v, want at most %d", wait, after(wait), n)
		}
		if wait > 0 && after(wait-1).Cmp(goal) <= 0 {
			t.Fatalf("a wait of %d is too long", wait)
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
		a := amount{whole, part % from}
		rat := func(a amount, every int64) *big.Rat {
			return new(big.Rat).Add(new(big.Rat).SetInt64(a.whole), big.NewRat(a.part, every))
		}
		up := rescale(a, time.Duration(from), time.Duration(to), true)
		down := rescale(a, time.Duration(from), time.Duration(to), false)
		if up.part < 0 || up.part >= to || down.part < 0 || down.part >= to {
			t.Fatalf("not amounts: %+v, %+v", up, down)
		}
		exact := rat(a, from)
		if rat(up, to).Cmp(exact) < 0 || rat(down, to).Cmp(exact) > 0 {
			t.Fatalf("%v became %v and %v", exact, rat(up, to), rat(down, to))
		}
		if gap := new(big.Rat).Sub(rat(up, to), rat(down, to)); gap.Cmp(big.NewRat(1, to)) > 0 {
			t.Fatalf("rounded by %v", gap)
		}
	})
}
