package limiter

import "testing"

// TestNewPeriodMakesNoCapacity gives a bucket in thirds of a unit a rule in
// halves: what is missing is rounded up, what may be given back down.
func TestNewPeriodMakesNoCapacity(t *testing.T) {
	b := testBucket(TokenBucket{Size: 10, Refill: 1, Every: 3}, wide{})
	h := &hold{budget: (*Budget)(b), n: 2}
	b.hold(h)
	b.advance(instant{ns: 5}) // a third of a unit is still missing
	b.more.holds.observe(b.deficit)
	(*Budget)(b).setTerms(b.terms.Load().revised("b", TokenBucket{Size: 10, Refill: 1, Every: 2}, 2), instant{ns: 5})
	if b.deficit != (wide{lo: 1}) || !h.least.isZero() {
		t.Fatalf("a deficit of %v halves, of which %v may be given back; want 1 and 0", b.deficit, h.least)
	}
}
