package limiter

import (
	"math"
	"math/bits"
)

// wide is an unsigned integer of 128 bits: amounts times nanoseconds, exactly.
type wide struct{ hi, lo uint64 }

// infinite is more than any bucket can be short of.
var infinite = wide{hi: math.MaxUint64}

// product returns a × b, neither of which is negative.
func product(a, b int64) wide {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return wide{hi, lo}
}

func (a wide) less(b wide) bool {
	return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo
}

func least(a, b wide) wide {
	if b.less(a) {
		return b
	}
	return a
}

func (a wide) isZero() bool { return a.hi|a.lo == 0 }

// plus returns a + b, which fits: no sum of a bucket's comes near 2^127.
func (a wide) plus(b wide) wide {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return wide{hi, lo}
}

// minus returns a − b, or 0 if that would be negative.
func (a wide) minus(b wide) wide {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, borrow := bits.Sub64(a.hi, b.hi, borrow)
	if borrow != 0 {
		return wide{}
	}
	return wide{hi, lo}
}

// ceilDiv returns ceil(a / by), at most the largest int64.
func (a wide) ceilDiv(by int64) int64 {
	d := uint64(by)
	if a.hi == 0 { // usual, and a short division is several times faster
		q := a.lo / d
		if q*d != a.lo {
			q++
		}
		return int64(min(q, math.MaxInt64))
	}
	if a.hi >= d {
		return math.MaxInt64
	}
	q, rest := bits.Div64(a.hi, a.lo, d)
	if rest > 0 && q < math.MaxUint64 {
		q++
	}
	return int64(min(q, math.MaxInt64))
}

// narrow returns a, which must fit, as an int64.
func (a wide) narrow() int64 { return int64(a.lo) }

// rescaled returns a, which counts parts of which from make a unit, in parts
// of which to make one; rounded up or down. The whole units must fit in 63
// bits, or a is infinite and stays so.
func (a wide) rescaled(from, to int64, up bool) wide {
	if a.hi >= uint64(from) {
		return a
	}
	whole, part := bits.Div64(a.hi, a.lo, uint64(from))
	hi, lo := bits.Mul64(part, uint64(to))
	q, rest := bits.Div64(hi, lo, uint64(from)) // q < to, as part < from
	if up && rest > 0 {
		q++
	}
	return product(int64(whole), to).plus(wide{lo: q})
}
