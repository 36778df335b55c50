package proxy

import (
	"maps"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// extra is what raises a budget's limit for a while.
type extra struct {
	written limit.Limit   // without it
	all     []limit.Extra // each until its date, passed or not
	holding []limit.Extra // those that hold
}

// raise gives a key's budgets what raises them, as it is now.
func (b *policyBuilder) raise(s KeySpec, own []*budget, now time.Time) {
	limits := make([]limit.Limit, len(own))
	for i, made := range own {
		limits[i] = made.limit
	}
	of, wrong := limit.Assign(limits, s.Extra)
	for j, err := range wrong {
		if err != nil {
			b.problem("%s, extra %q: %w", keyOwner(s.Name), s.Extra[j].Text, err)
		}
	}
	for i, made := range own {
		if len(of[i]) > 0 {
			made.extra = &extra{written: made.limit, all: of[i]}
			*made = *made.at(now)
		}
	}
}

// at returns the budget as it is at an instant: the same counter, its limit raised by what holds then.
func (b *budget) at(now time.Time) *budget {
	made := *b
	e := *b.extra
	made.limit, e.holding = e.written.Raised(e.all, now)
	made.extra = &e
	switch rule := made.rule.(type) { // only these are raised
	case limiter.CalendarQuota:
		rule.Limit = made.limit.Amount
		made.rule = rule
	case limiter.Total:
		rule.Limit = made.limit.Amount
		made.rule = rule
	}
	return &made
}

// raisedBy says what raises the budget's limit now, after a separator; nothing, if nothing does.
func (b *budget) raisedBy(separator string) string {
	if b.extra == nil || len(b.extra.holding) == 0 {
		return ""
	}
	return separator + limit.RaisedBy(b.extra.holding)
}

// holds reports whether the policy's extras are those that hold at an instant.
func (p *Policy) holds(now time.Time) bool {
	return !now.Before(p.from) && (p.until.IsZero() || now.Before(p.until))
}

// bound finds out from when until when the extras that hold at an instant are the same.
func (p *Policy) bound(now time.Time) {
	p.from, p.until = time.Time{}, time.Time{}
	for _, b := range p.budgets {
		if b.extra == nil {
			continue
		}
		for _, e := range b.extra.all {
			switch end := e.Until; {
			case !e.Holds(now) && end.After(p.from):
				p.from = end
			case e.Holds(now) && (p.until.IsZero() || end.Before(p.until)):
				p.until = end
			}
		}
	}
}

// at returns the policy with the extras that hold at an instant. All else is the same, and shared with p.
func (p *Policy) at(now time.Time) *Policy {
	made := *p
	made.bound(now)
	changed := map[*budget]*budget{}
	made.budgets = replaced(p.budgets, func(b *budget) *budget {
		if b.extra != nil {
			changed[b] = b.at(now)
		}
		return changed[b]
	})
	callers := map[*caller]*caller{}
	made.callers = maps.Clone(p.callers)
	for hash, c := range p.callers {
		if callers[c] == nil {
			same := *c
			same.budgets = replaced(c.budgets, func(b *budget) *budget { return changed[b] })
			callers[c] = &same
		}
		made.callers[hash] = callers[c]
	}
	return &made
}

// replaced returns the budgets with what by returns in the place of each, unless that is nil.
func replaced(budgets []*budget, by func(*budget) *budget) []*budget {
	out := make([]*budget, len(budgets))
	for i, b := range budgets {
		if out[i] = by(b); out[i] == nil {
			out[i] = b
		}
	}
	return out
}

// enforce puts the rules of the policy into effect.
func (p *Policy) enforce(l limiter.Limiter) {
	for _, b := range p.budgets {
		l.Budget(b.name(), b.rule)
	}
}

// current is the policy in effect, with the extras that hold now. No timer watches their dates: whoever asks first after one has
// passed puts the limit back, so it holds from the instant that was said, however the clock was set meanwhile.
func (s *Server) current() *Policy {
	if p := s.policy.Load(); p == nil || p.holds(s.wall()) {
		return p
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	p, now := s.policy.Load(), s.wall() // it is later than a moment ago, and somebody may have been faster
	if p.holds(now) {
		return p
	}
	made := p.at(now)
	made.enforce(s.options.Limiter)
	s.policy.Store(made)
	s.memo.clear() // what a prompt was counted to may depend on what fits
	for i, b := range made.budgets {
		if old := p.budgets[i]; b.limit.Amount != old.limit.Amount {
			s.options.Log.Info("a date has changed a limit", "budget", b.String(), "amount", b.amountText(b.limit.Amount), "before", b.amountText(old.limit.Amount))
		}
	}
	return made
}
