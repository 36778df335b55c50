package proxy

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/limiter"
)

// Restorer rebuilds budgets that are counted in memory from what a ledger says was spent, so that nobody gets a fresh budget by a
// restart. It remembers which ones it has rebuilt: those count on, and are corrected, for as long as the limiter lives, also while no
// policy has them. It is for one goroutine.
type Restorer struct {
	memory *limiter.Memory
	known  map[string]*budget // by their counters' names, as the last policy had it
	dates  Dates
}

// Dates is how what refills is dated when it is rebuilt, as a ledger does not tell the very instants.
type Dates uint8

// The dates. What a running process has counted is never below what the earliest come to, nor above the latest.
const (
	Safe     Dates = iota // never too early, so that nobody gets back what is not his yet
	Earliest              // no later than it may have been
	Latest                // and no earlier
)

// Dating returns a restorer of budgets to compare others with.
func (r *Restorer) Dating(d Dates) *Restorer {
	return &Restorer{memory: r.memory, known: r.known, dates: d}
}

// NewRestorer rebuilds budgets of that limiter.
func NewRestorer(m *limiter.Memory) *Restorer {
	return &Restorer{memory: m, known: map[string]*budget{}}
}

// Restore rebuilds the budgets of a policy that no policy before it had, and returns how many. It is to be done before the policy
// is used. Exchanges that never ended count as reserved.
//
// Windows and buckets are rebuilt from single charges of the last hour, and from sums of a quarter of an hour before: what was
// spent then leaves a long window up to a quarter of an hour late, never early.
func (r *Restorer) Restore(ctx context.Context, p *Policy, s ledger.Snapshot) (int, error) {
	now := time.Now()
	var wants []ledger.Want
	var budgets []*budget
	for _, b := range p.budgets {
		switch {
		case b.atOnce():
		case r.known[b.name()] != nil:
			r.known[b.name()] = b
		default:
			wants = append(wants, b.history(now))
			budgets = append(budgets, b)
		}
	}
	if len(wants) == 0 {
		return 0, nil
	}
	spends := make([][]limiter.Spend, len(wants))
	err := s.Spends(ctx, wants, func(i int, at time.Time, n int64) error {
		spends[i] = append(spends[i], limiter.Spend{At: r.dates.of(budgets[i], at, now), N: n})
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("rebuild budgets: %w", err)
	}
	for i, b := range budgets {
		if err := r.memory.Restore(b.handle, netted(spends[i])); err != nil {
			return i, fmt.Errorf("rebuild %s: %w", b, err)
		}
		r.known[b.name()] = b
	}
	return len(budgets), nil
}

// reserveTime is the longest that may lie between the making of an exchange's id and that of its reservation.
const reserveTime = time.Second

// of is the date of what the ledger dates to an instant.
func (d Dates) of(b *budget, at, now time.Time) time.Time {
	grain := time.Duration(0)
	if w, ok := b.rule.(limiter.SlidingWindow); ok {
		grain = w.Grain // by which it may leave late, here and there
	}
	switch {
	case !b.refills():
		return at
	case d == Earliest:
		return early(at, now).Add(-grain)
	case d == Latest:
		return at.Add(reserveTime + grain)
	default:
		// The row is dated to a moment before its reservation was made.
		return at.Add(reserveTime)
	}
}

// early is the earliest instant of what a ledger dates to one.
func early(at, now time.Time) time.Time {
	if at.After(ledger.RowsSince(now)) {
		return at
	}
	return at.Add(-ledger.SlotLength)
}

// beyondDebt is how far back the sums of a bucket go: what it owes may be older than the time it takes to fill.
const beyondDebt = 24 * time.Hour

// history is what has to be known to rebuild a budget.
func (b *budget) history(now time.Time) ledger.Want {
	w := ledger.Want{Budget: b.entry.Name}
	switch rule := b.rule.(type) {
	case limiter.TokenBucket:
		fills := time.Duration(float64(rule.Size) / float64(rule.Refill) * float64(rule.Every))
		w.Since, w.Detail = now.Add(-max(2*fills, beyondDebt)), ledger.ByRow
	case limiter.SlidingWindow:
		w.Since, w.Detail = now.Add(-rule.Window-rule.Grain-reserveTime), ledger.ByRow
	case limiter.CalendarQuota:
		w.Since = rule.Begin(now)
	}
	return w
}

// netted takes corrections, which are negative, off what they correct: charges of the same instant, then what comes after, as was
// used beyond what was reserved, and as far as those have been dropped or summed up, the oldest there are.
func netted(spends []limiter.Spend) []limiter.Spend {
	slices.SortStableFunc(spends, func(a, b limiter.Spend) int { return a.At.Compare(b.At) })
	rest := int64(0)
	for from := 0; from < len(spends); {
		to := from + 1
		for to < len(spends) && spends[to].At.Equal(spends[from].At) {
			to++
		}
		rest = takeOff(spends[from:to], rest)
		from = to
	}
	takeOff(spends, rest)
	return slices.DeleteFunc(spends, func(s limiter.Spend) bool { return s.N <= 0 })
}

// takeOff takes what is negative, and a rest, off what is not, and returns what is left of it.
func takeOff(spends []limiter.Spend, rest int64) int64 {
	for i := range spends {
		if spends[i].N < 0 {
			rest -= spends[i].N
			spends[i].N = 0
		}
	}
	for i := range spends {
		off := min(rest, spends[i].N)
		spends[i].N -= off
		rest -= off
	}
	return rest
}
