package proxy

import (
	"context"
	"fmt"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// shortage is one budget that has no room for a call now.
type shortage struct {
	budget   *budget
	state    limiter.State
	need     int64
	wait     time.Duration // limiter.Never: until somebody changes the limit
	heldOnly bool          // there would be room if everything reserved came back
	tooBig   bool          // there never is so much room
}

// usedUp reports whether only the turn of a period, or nothing, brings room: what was spent is spent.
func (s shortage) usedUp() bool { return !s.budget.refills() && !s.heldOnly }

// guessed reports whether the wait hangs on when running calls end, which no clock knows.
func (s shortage) guessed() bool { return !s.budget.refills() && s.heldOnly }

// graver reports whether a refusal is about s before other: about what is used up first, about calls at once last, and else
// about the longest wait.
func (s shortage) graver(other shortage) bool {
	switch {
	case s.usedUp() != other.usedUp():
		return s.usedUp()
	case s.budget.atOnce() != other.budget.atOnce():
		return other.budget.atOnce()
	default:
		return s.wait > other.wait
	}
}

// shortages are the budgets without room, at least one.
func (x *exchange) shortages(ctx context.Context, d limiter.Decision) ([]shortage, error) {
	var short []shortage
	for i := range x.draws.charges {
		charge := x.draws.charges[i : i+1]
		alone, err := x.server.options.Limiter.Peek(ctx, charge)
		if err != nil {
			return nil, fmt.Errorf("read budgets: %w", err)
		}
		if !alone.OK {
			short = append(short, x.draws.short(i, alone))
		}
	}
	if len(short) == 0 {
		// Room came back between the refusal and this second look: what the refusal said still holds, and is soon true.
		short = append(short, x.draws.short(d.Refused, d))
	}
	return short, nil
}

// short describes the shortage that a refusal is about.
func (d *draws) short(i int, refused limiter.Decision) shortage {
	s := shortage{budget: d.budgets[i], state: d.charges[i].State, need: d.charges[i].N, wait: refused.RetryAfter, tooBig: refused.TooBig}
	s.heldOnly = s.need <= s.state.Limit-s.state.Used
	switch {
	case s.budget.atOnce():
		s.wait = (s.wait + time.Second - 1).Truncate(time.Second) // the limiter's guess, which knows how long calls have been of late
	case s.guessed():
		// When running calls will end is not ours to know: the guess grows with how many there are, from 1 to 10 seconds.
		s.wait = time.Duration(min(10, max(1, s.state.Open))) * time.Second
	}
	return s
}

// running says of a limit of calls at once how many run and how many of them must end.
func (s shortage) running() string {
	n := max(s.state.Held, s.state.Limit) // as it was when the call was refused
	switch tooMany := n - s.state.Limit + 1; {
	case n == 1:
		return "1 call is running, and must end first"
	case tooMany == 1:
		return fmt.Sprintf("%d calls are running, and one of them must end first", n)
	default:
		return fmt.Sprintf("%d calls are running, and %d of them must end first", n, tooMany)
	}
}

// gravest returns the shortage that a refusal is about, and the one that lasts longest, whose wait is that of the whole call. The
// two differ only where the first is used up. Mere guesses about calls at once must not pass for a time that is known.
func gravest(short []shortage) (worst, longest shortage) {
	worst = short[0]
	for _, s := range short[1:] {
		if s.graver(worst) {
			worst = s
		}
	}
	longest = worst
	for _, s := range short {
		if !s.budget.atOnce() && s.wait > longest.wait {
			longest = s
		}
	}
	return worst, longest
}

// figures are the numbers of a refusal, where callers may know them.
func (s shortage) figures() string {
	if s.budget.ofUpstream() {
		return s.budget.told() + " is short, not the budget of your key."
	}
	return fmt.Sprintf("%s of your team's proxy (not OpenAI's): %s", s.budget, s.amounts())
}

func (s shortage) amounts() string {
	b := s.budget
	return fmt.Sprintf("Limit %s, Used %s,%s Requested %s.", b.amountText(s.state.Limit), b.amountText(s.state.Used), s.heldText(), b.amountText(s.need))
}

func (s shortage) heldText() string {
	switch {
	case s.state.Held == 0:
		return ""
	case s.state.Open == 1:
		return fmt.Sprintf(" Held %s by 1 running call,", s.budget.amountText(s.state.Held))
	default:
		return fmt.Sprintf(" Held %s by %d running calls,", s.budget.amountText(s.state.Held), s.state.Open)
	}
}
