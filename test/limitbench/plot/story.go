package main

// What the pictures tell. The stories are data, so that a test can play them on
// the real limiter and see that the pictures are true.

// A bucket of 10,000 that gets 1,000 a second, and what happens to it.
const (
	bucketSize   = 10_000
	bucketRefill = 1_000
)

type deed int

const (
	reserve deed = iota
	take
	settle
)

// event is something that happens to the bucket. amount is what is reserved or
// taken or, for settle, what was used of the one reservation.
type event struct {
	at     float64 // seconds
	deed   deed
	amount float64
}

type story struct {
	events []event
	end    float64
}

var (
	inTime = story{[]event{{1, reserve, 8000}, {3, settle, 3000}}, 13}
	late   = story{[]event{{1, reserve, 8000}, {7, take, 6000}, {9, settle, 3000}}, 13}
)

// How a settlement gives back what was not used.
type refund int

const (
	smallestDeficit refund = iota // what the limiter does
	addedBack                     // the trap: all of it, capped at full
	neverTaken                    // the yardstick: as if the true amount had been charged at once
)

// point is a level at an instant.
type point struct{ at, level float64 }

// levels plays the story and returns the corners of the line that the bucket's
// level follows.
func (s story) levels(how refund) []point {
	level, at := float64(bucketSize), 0.0
	line := []point{{0, level}}
	reserved, least := 0.0, 0.0
	used := s.events[len(s.events)-1].amount
	advance := func(to float64) {
		if full := at + (bucketSize-level)/bucketRefill; full < to && level < bucketSize {
			line = append(line, point{full, bucketSize})
		}
		level, at = min(bucketSize, level+(to-at)*bucketRefill), to
		line = append(line, point{at, level})
	}
	for _, e := range s.events {
		advance(e.at)
		if e.deed != reserve {
			least = min(least, bucketSize-level) // deficits only fall in between
		}
		switch e.deed {
		case reserve:
			reserved, least = e.amount, bucketSize
			if how == neverTaken {
				reserved = used
			}
			level -= reserved
		case take:
			level -= e.amount
		case settle:
			switch back := reserved - e.amount; how {
			case smallestDeficit:
				level += min(back, least)
			case addedBack:
				level = min(bucketSize, level+back)
			}
		}
		line = append(line, point{at, level})
	}
	advance(s.end)
	return line
}

// A window of 10,000 in any minute.
const (
	windowLimit = 10_000
	windowLong  = 60.0
)

// entry is an admitted amount. One that was reserved is settled later, and then
// counts for less, where it stands.
type entry struct {
	name       string
	at         float64
	amount     float64
	settledAt  float64 // 0: the amount was known
	settledFor float64
}

var entries = []entry{
	{name: "A", at: 5, amount: 4000},
	{name: "B", at: 20, amount: 3000, settledAt: 48, settledFor: 1000},
	{name: "C", at: 38, amount: 2000},
	{name: "D", at: 65, amount: 5000},
}

// The call that becomes D comes too early at first, and is told to wait until A
// has left.
const (
	refusedAt  = 55.0
	retryAfter = 10.0
)

// counts is what an entry counts for at an instant.
func (e entry) counts(at float64) float64 {
	switch {
	case at < e.at || at >= e.at+windowLong:
		return 0
	case e.settledAt > 0 && at >= e.settledAt:
		return e.settledFor
	}
	return e.amount
}
