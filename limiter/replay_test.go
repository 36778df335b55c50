package limiter

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestReplayComesBackToThePresent has others look at a budget at a later
// instant than the one it is restored at.
func TestReplayComesBackToThePresent(t *testing.T) {
	for _, rule := range []Rule{TokenBucket{Size: 10, Refill: 1, Every: 200}, SlidingWindow{Limit: 10, Window: 1300}} {
		for _, seen := range []int64{400, 500, 600} {
			b := new(Budget).init("b", 1, newTerms(nil, "b", rule), instant{})
			b.more = &more{counter: newCounter(b.terms.Load(), instant{})}
			b.enter(instant{ns: seen})
			b.enter(instant{ns: 500})
			b.replay([]spent{{-450, 4}, {-350, 3}}, instant{ns: 500, wall: 500})
			var now int64
			var left time.Duration
			switch c := b.counter().(type) {
			case *bucket:
				now, left = c.now, c.wait(10)
			case *window:
				now, left = c.now, c.wait(10)
			}
			if present := max(seen, 500); now != present || left != time.Duration(950-present) {
				t.Errorf("%T, seen at %d: at %d, whole in %d", rule, seen, now, left)
			}
		}
	}
}

func TestGrainsBeforeTheBase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := SlidingWindow{Grain: time.Duration(rapid.Int64Range(1, int64(longest)).Draw(t, "grain"))}
		now := rapid.OneOf(rapid.Int64Range(-10, 10), rapid.Int64Range(-int64(farthest), math.MaxInt64/4)).Draw(t, "now")
		end, g := r.grainEnd(now), int64(r.Grain)
		if end <= now || end-now > g || end%g != 0 {
			t.Fatalf("the grain of %d ends at %d, with grains of %d", now, end, g)
		}
	})
}

// TestCurrentWhenClockSetBack asks what counts in a period that goes on though
// the clock was set back to the one before.
func TestCurrentWhenClockSetBack(t *testing.T) {
	at := func(clock string) int64 {
		when, err := time.Parse(time.RFC3339, clock)
		if err != nil {
			t.Fatal(err)
		}
		return when.UnixNano()
	}
	c := newCalendar(CalendarQuota{Limit: 10, Period: Day}, at("2026-11-21T00:00:01Z"))
	c.advance(instant{wall: at("2026-11-20T23:59:50Z")})
	for clock, want := range map[string]bool{
		"2026-11-20T23:59:49Z": false, // the day before had that, too
		"2026-11-20T23:59:50Z": true,  // it is now
		"2026-11-21T00:00:00Z": true,
	} {
		if got := c.current(at(clock)); got != want {
			t.Errorf("%s: %v", clock, got)
		}
	}
}
