package limiter

import "time"

// Skip makes the limiter's clock jump ahead.
func (m *Memory) Skip(d time.Duration) { m.base = m.base.Add(-d) }

// LaneEnds is the instant at which a bucket's fast lane ends, 0 if it has none.
func LaneEnds(r TokenBucket) time.Duration { return time.Duration(newLaneTerms(r).until) }
