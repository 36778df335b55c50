package proxy

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// Quota is a budget of which nothing comes back before its period ends, or ever: a limit with "each" or "in total".
type Quota struct {
	Name    string        // of its counter, as the ledger has it
	Owner   string        // "key alice", "group research", "upstream openai"
	Limit   limit.Limit   // its Text as it is written
	Raised  string        // what raises it now, "raised by $20 until 2027-01-31"; empty: nothing does
	State   limiter.State // in the limit's unit
	Percent int64         // settled, of the amount that holds now; rounded down
	Ends    time.Time     // when the period ends that goes on; the zero time: never

	// Refused says that in this period a call was refused because what is settled leaves too little for it. Calls reserve
	// before they go out, so a budget is most often used up without the last of it ever being used.
	Refused bool
}

// Quotas tells the quotas of the policy in force of which at least that percentage is used, in the order of the configuration.
// Those whose limit has ended are left out. It is cheap enough to be asked every second.
func (s *Server) Quotas(ctx context.Context, percent int64) ([]Quota, error) {
	var list []Quota
	charge := make([]limiter.Charge, 1)
	now := s.wall()
	for _, b := range s.current().budgets {
		if b.refills() || b.atOnce() || b.expired(now) {
			continue
		}
		charge[0] = limiter.Charge{Budget: b.handle}
		if _, err := s.options.Limiter.Peek(ctx, charge); err != nil {
			return nil, fmt.Errorf("read %s: %w", b, err)
		}
		state := charge[0].State
		used := percentOf(state.Used, state.Limit)
		if used < percent {
			continue
		}
		ends := b.ends(state, s.wall())
		list = append(list, Quota{
			Name: b.name(), Owner: b.owner.String(), Limit: b.limit, Raised: b.raisedBy(""), State: state, Percent: used, Ends: ends,
			Refused: b.refusedIn.Load() == ends.Unix(),
		})
	}
	return list, nil
}

// ends is when the period ends that goes on in a state read just now; the zero time if there is none. Periods end at full
// minutes; what passed between the two looks at the clock is rounded away, so that one period has one end.
func (b *budget) ends(s limiter.State, now time.Time) time.Time {
	if b.limit.Kind != limit.Each {
		return time.Time{}
	}
	return now.Add(s.ResetAfter).Round(time.Minute)
}

// noteRefused remembers that a call was refused in the period that goes on.
func (s shortage) noteRefused(now time.Time) {
	if s.usedUp() {
		s.budget.refusedIn.Store(s.budget.ends(s.state, now).Unix())
	}
}

// percentOf is how much of a limit is used, in percent rounded down, and no more than fits.
func percentOf(used, limit int64) int64 {
	hi, lo := bits.Mul64(uint64(max(0, used)), 100)
	if limit <= 0 || hi >= uint64(limit) {
		return math.MaxInt64
	}
	percent, _ := bits.Div64(hi, lo, uint64(limit))
	return int64(min(percent, math.MaxInt64))
}
