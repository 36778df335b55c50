package main

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// TestBucketStoriesAreTrue plays what the pictures tell on the real limiter.
func TestBucketStoriesAreTrue(t *testing.T) {
	for name, s := range map[string]story{"in time": inTime, "late": late} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := limiter.NewMemory()
				b := m.Budget("b", limiter.TokenBucket{Size: bucketSize, Refill: bucketRefill, Every: time.Second})
				began := time.Now()
				var open *limiter.Reservation
				line := s.levels(smallestDeficit)
				for _, e := range s.events {
					time.Sleep(seconds(e.at) - time.Since(began))
					want(t, m, b, lastBefore(line, e.at))
					charges := []limiter.Charge{{Budget: b, N: int64(e.amount)}}
					switch e.deed {
					case reserve:
						r, d, err := m.Reserve(t.Context(), charges)
						if err != nil || !d.OK {
							t.Fatal(d, err)
						}
						open = r
					case take:
						if d, err := limiter.TryAcquire(t.Context(), m, charges); err != nil || !d.OK {
							t.Fatal(d, err)
						}
					case settle:
						if err := open.Settle(t.Context(), []int64{int64(e.amount)}); err != nil {
							t.Fatal(err)
						}
					}
					want(t, m, b, firstAfter(line, e.at))
				}
				time.Sleep(seconds(s.end) - time.Since(began))
				want(t, m, b, line[len(line)-1].level)
			})
		})
	}
}

// TestExactRefundMatchesTheYardstick is what the dotted line shows: after the
// settlement there is no telling the two apart.
func TestExactRefundMatchesTheYardstick(t *testing.T) {
	for _, s := range []story{inTime, late} {
		exact, yardstick := s.levels(smallestDeficit), s.levels(neverTaken)
		settled := s.events[len(s.events)-1].at
		if a, b := firstAfter(exact, settled), firstAfter(yardstick, settled); a != b {
			t.Errorf("after the settlement the level is %v, want %v", a, b)
		}
	}
	if trap := firstAfter(late.levels(addedBack), 9); trap != 9000 {
		t.Errorf("the trap leads to %v, the picture says 3,000 more than 6,000", trap)
	}
}

func TestWindowStoryIsTrue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := limiter.NewMemory()
		b := m.Budget("w", limiter.SlidingWindow{Limit: windowLimit, Window: seconds(windowLong)})
		began := time.Now()
		reserve := func(n float64) (*limiter.Reservation, limiter.Decision) {
			r, d, err := m.Reserve(t.Context(), []limiter.Charge{{Budget: b, N: int64(n)}})
			if err != nil {
				t.Fatal(err)
			}
			return r, d
		}
		open := map[string]*limiter.Reservation{}
		for _, at := range slices.Sorted(slices.Values(append(changes(), refusedAt))) {
			time.Sleep(seconds(at) - time.Since(began))
			if at == refusedAt {
				if _, d := reserve(entries[3].amount); d.OK || d.RetryAfter != seconds(retryAfter) {
					t.Errorf("at %v s: %+v, want a refusal and %v s", at, d, retryAfter)
				}
			}
			for _, e := range entries {
				if e.at == at {
					open[e.name], _ = reserve(e.amount)
				}
				if e.settledAt == at {
					if err := open[e.name].Settle(t.Context(), []int64{int64(e.settledFor)}); err != nil {
						t.Fatal(err)
					}
				}
			}
			want(t, m, b, windowLimit-total(at))
		}
		if len(open) != len(entries) {
			t.Errorf("%d entries came in, want %d", len(open), len(entries))
		}
		for name, r := range open {
			if r == nil {
				t.Errorf("%s was refused", name)
			}
		}
	})
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// lastBefore and firstAfter are the two ends of a step.
func lastBefore(line []point, at float64) float64 {
	for _, p := range line {
		if p.at == at {
			return p.level
		}
	}
	return -1
}

func firstAfter(line []point, at float64) (level float64) {
	for _, p := range line {
		if p.at == at {
			level = p.level
		}
	}
	return level
}

func want(t *testing.T, m *limiter.Memory, b *limiter.Budget, level float64) {
	t.Helper()
	charges := []limiter.Charge{{Budget: b, N: 1}}
	if _, err := m.Peek(t.Context(), charges); err != nil {
		t.Fatal(err)
	}
	if got := charges[0].State.Remaining; got != int64(level) {
		t.Errorf("%d remain, want %v", got, level)
	}
}
