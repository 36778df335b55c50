package limiter

import (
	"math"
	"math/bits"
	"time"
)

// bucket is the counter of a TokenBucket. It keeps the deficit (capacity less
// level) rather than the level, so that a rule of another size leaves alone
// what was consumed. A deficit above the capacity is debt.
type bucket struct {
	rule    TokenBucket
	now     int64
	deficit amount
	held    int64 // sum of the open holds, whether or not refill has replaced them
	holds   holdList
}

// amount is whole units and part/Every of a unit, 0 ≤ part < Every.
type amount struct{ whole, part int64 }

var infinite = amount{whole: math.MaxInt64}

func (a amount) less(b amount) bool {
	return a.whole < b.whole || a.whole == b.whole && a.part < b.part
}

// minus returns a − b, which must not be negative, in parts of 1/every.
func (a amount) minus(b amount, every time.Duration) amount {
	a.whole -= b.whole
	a.part -= b.part
	if a.part < 0 {
		a.whole--
		a.part += int64(every)
	}
	return a
}

// ceil returns a in whole units: a fraction that is missing makes the whole
// unit unspendable.
func (a amount) ceil() int64 {
	if a.part > 0 {
		return a.whole + 1
	}
	return a.whole
}

// refilled returns what is left of a deficit after dt: less dt·Refill/Every,
// and never below zero.
func (r TokenBucket) refilled(deficit amount, dt time.Duration) amount {
	if dt <= 0 || deficit == (amount{}) {
		return deficit
	}
	hi, lo := bits.Mul64(uint64(dt), uint64(r.Refill))
	if hi >= uint64(r.Every) {
		return amount{}
	}
	whole, part := bits.Div64(hi, lo, uint64(r.Every))
	if whole > uint64(deficit.whole) {
		return amount{}
	}
	back := amount{int64(whole), int64(part)}
	if !back.less(deficit) {
		return amount{}
	}
	return deficit.minus(back, r.Every)
}

// untilAtMost returns the smallest time after which a deficit is at most n:
// ceil(((deficit − n)·Every) / Refill), and Never if it does not fit.
func (r TokenBucket) untilAtMost(deficit amount, n int64) time.Duration {
	if !(amount{whole: n}).less(deficit) {
		return 0
	}
	hi, lo := bits.Mul64(uint64(deficit.whole-n), uint64(r.Every))
	lo, carry := bits.Add64(lo, uint64(deficit.part), 0)
	return time.Duration(ceilDiv(hi+carry, lo, uint64(r.Refill)))
}

func (b *bucket) setRule(rule Rule) bool {
	r, ok := rule.(TokenBucket)
	if !ok {
		return false
	}
	if r.Every != b.rule.Every {
		// A deficit's fraction is rounded up and a bound on what may be given
		// back is rounded down, so a new period never makes capacity.
		b.deficit = rescale(b.deficit, b.rule.Every, r.Every, true)
		for h := b.holds.oldest; h != nil; h = h.younger {
			h.least = rescale(h.least, b.rule.Every, r.Every, false)
		}
	}
	b.rule = r
	return true
}

func rescale(a amount, from, to time.Duration, up bool) amount {
	hi, lo := bits.Mul64(uint64(a.part), uint64(to))
	q, rest := bits.Div64(hi, lo, uint64(from)) // q < to, as part < from
	a.part = int64(q)
	if up && rest > 0 {
		a.part++
	}
	if a.part == int64(to) {
		return amount{whole: a.whole + 1}
	}
	return a
}

func (b *bucket) advance(now instant) {
	if now.ns > b.now {
		b.deficit = b.rule.refilled(b.deficit, time.Duration(now.ns-b.now))
		b.now = now.ns
	}
}

func (b *bucket) counted() (used, held int64) {
	all := b.deficit.ceil()
	held = min(b.held, all)
	return all - held, held
}

func (b *bucket) describe() (used, held int64, open int, untilWhole time.Duration) {
	used, held = b.counted()
	return used, held, b.holds.n, b.rule.untilAtMost(b.deficit, 0)
}

func (b *bucket) room() int64 {
	return mostCounted - max(b.held, b.deficit.ceil())
}

func (b *bucket) wait(n int64) (time.Duration, int64) {
	d := b.rule.untilAtMost(b.deficit, b.rule.Size-n)
	if d == Never {
		return d, b.deficit.ceil()
	}
	return d, b.rule.refilled(b.deficit, d).ceil()
}

func (b *bucket) fitsWithoutHeld(n int64) bool {
	rest := b.deficit.minus(b.holds.returnable(b.deficit), b.rule.Every)
	return !(amount{whole: b.rule.Size - n}).less(rest)
}

func (b *bucket) spend(n int64) {
	b.holds.observe(b.deficit)
	b.deficit.whole += n
}

func (b *bucket) hold(h *hold) {
	b.spend(h.n)
	b.held += h.n
	b.holds.add(h)
}

func (b *bucket) settle(h *hold, actual int64) {
	if back := h.n - min(actual, h.n); back > 0 {
		b.holds.observe(b.deficit)
		b.deficit = b.deficit.minus(b.holds.giveBack(h, back, b.rule.Every), b.rule.Every)
	}
	b.holds.remove(h)
	b.held -= h.n
	if over := min(actual-min(actual, h.n), b.room()); over > 0 {
		b.spend(over)
	}
}
