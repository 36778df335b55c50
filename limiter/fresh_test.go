package limiter

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestOnlyAsGoodAsNewIsDropped asks the sweep about a bucket at the instant it
// is whole and at the one before, where the word of the fast lane tells, and
// where the state under the lock does.
func TestOnlyAsGoodAsNewIsDropped(t *testing.T) {
	const whole = 7 // a part comes back each nanosecond: the instant in either form
	for name, c := range map[string]struct {
		now                 int64
		startsEmpty, pinned bool
		want                bool
	}{
		"whole":              {now: whole, want: true},
		"long since":         {now: 1000, want: true},
		"one part missing":   {now: whole - 1},
		"starts empty":       {now: 1000, startsEmpty: true},
		"has its own rule":   {now: 1000, pinned: true},
		"both":               {now: 1000, pinned: true, startsEmpty: true},
		"nothing to go by":   {now: 0},
		"half of it missing": {now: whole / 2},
	} {
		for _, lane := range []string{"open", "closed"} {
			t.Run(name+"/"+lane, func(t *testing.T) {
				terms := newTerms(NewMemory(), "b", TokenBucket{Size: 3, Refill: 1, Every: 10, StartEmpty: c.startsEmpty})
				terms.pinned = c.pinned
				b := new(Budget).init("b", 1, terms, instant{})
				b.deficit = wide{lo: whole}
				if lane == "open" {
					b.openLane()
				}
				before := b.lane.Load()
				if (before == whole) != (lane == "open") {
					t.Fatalf("the lane says %d", before)
				}
				if got := b.dropIfFresh(instant{ns: c.now}); got != c.want {
					t.Fatalf("dropped: %v, want %v", got, c.want)
				}
				want := before
				if c.want {
					want = laneDead
				}
				if got := b.lane.Load(); got != want {
					t.Fatalf("the lane says %d, want %d", got, want)
				}
			})
		}
	}
	t.Run("in use", func(t *testing.T) {
		b := new(Budget).init("b", 1, newTerms(NewMemory(), "b", TokenBucket{Size: 3, Refill: 1, Every: 10}), instant{})
		b.mu.Lock()
		if b.dropIfFresh(instant{ns: 1000}) {
			t.Fatal("dropped while locked")
		}
		b.mu.Unlock()
		if !b.dropIfFresh(instant{ns: 1000}) {
			t.Fatal("not dropped")
		}
	})
}

// TestDroppedOrCharged has one goroutine charge a bucket that is whole, on the
// fast way, and another drop it, over and over: whoever comes second must
// notice, so a charge that passed is there when the bucket is looked at again.
func TestDroppedOrCharged(t *testing.T) {
	// It goes on until both have often got in between each other, which takes
	// two processors that have time for them, or until that seems hopeless.
	const often, hopeless, whole = 20_000, 5_000_000, 0
	m := NewMemory()
	m.Skip(time.Hour)
	terms := newTerms(m, "b", TokenBucket{Size: 1, Refill: 1, Every: time.Hour})
	b := new(Budget).init("b", 1, terms, instant{})
	b.lane.Store(whole)
	now := m.now(false)
	const charger, dropper = 1, 2
	var last, between, all atomic.Int64
	done := func(who int64) {
		if last.Swap(who) != who {
			between.Add(1)
		}
		all.Add(1)
	}
	enough := func() bool { return t.Failed() || between.Load() >= often || all.Load() >= hopeless }
	var both sync.WaitGroup
	both.Go(func() {
		for !enough() {
			if after, _, ok, _ := b.passLane(terms, 1); ok {
				done(charger) // which leaves time for a drop that did not notice
				if !b.lane.CompareAndSwap(after, whole) {
					t.Error("a charge is lost: the bucket was dropped")
				}
			}
		}
	})
	both.Go(func() {
		for !enough() {
			if b.dropIfFresh(now) {
				done(dropper)
				b.lane.Store(whole)
			}
		}
	})
	both.Wait()
}
