package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// budgetsLeft works out what the budgets of a configuration have left now, from what the ledger says was spent.
type budgetsLeft func(ctx context.Context, c *Config, s ledger.Snapshot) (map[budgetOwner][]budgetLeft, error)

// budgetOwner is who a budget belongs to.
type budgetOwner struct{ kind, name string } // kind is "key", "group" or "upstream"

// budgetLeft is what one budget has left. Amounts are in the limit's unit.
type budgetLeft struct {
	limit     limit.Limit
	raised    string    // what raises it now, "raised by $20 until 2026-12-01"; empty: nothing does
	amount    int64     // of the limit, with what raises it now
	used      int64     // and still counting
	held      int64     // reserved
	remaining int64     // what a call could take now, at least 0
	resets    time.Time // when it is whole again if nobody spends any more; the zero time: never
}

// lasting reports whether it is of interest tomorrow: a budget that is whole again within the hour, or that counts running
// calls, says nothing in a mail.
func (b budgetLeft) lasting() bool {
	switch b.limit.Kind {
	case limit.Each, limit.InTotal:
		return true
	case limit.Per, limit.InAny:
		return b.limit.Every >= time.Hour
	default:
		return false
	}
}

// replayBudgets counts again what was spent, as a proxy does that starts now.
func replayBudgets(ctx context.Context, c *Config, s ledger.Snapshot) (map[budgetOwner][]budgetLeft, error) {
	states, err := c.replay(ctx, s)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	out := map[budgetOwner][]budgetLeft{}
	for _, b := range states {
		l, err := limit.Parse(b.Limit, c.zone)
		if err != nil {
			return nil, fmt.Errorf("%s, limit %q: %w", b.Owner, b.Limit, err)
		}
		if l.Kind == limit.AtOnce || !l.Until.IsZero() && !now.Before(l.Until) {
			continue // what runs is not known here, and what has ended limits nothing
		}
		kind, name, _ := strings.Cut(b.Owner, " ")
		left := budgetLeft{limit: l, raised: b.Raised, amount: b.State.Limit, used: b.State.Used, held: b.State.Held, remaining: b.State.Remaining}
		if l.Kind != limit.InTotal {
			left.resets = now.Add(b.State.ResetAfter)
		}
		out[budgetOwner{kind, name}] = append(out[budgetOwner{kind, name}], left)
	}
	return out, nil
}

// ownersOf is whose budgets belong beside a line.
func (r *usageReport) ownersOf(l *usageLine) (owners []budgetOwner) {
	for i, d := range r.by {
		if d.name == "key" || d.name == "group" {
			owners = append(owners, budgetOwner{d.name, l.values[i]})
		}
	}
	return owners
}

// poolsOf are the groups that the key of a line is in by the configuration: it draws on their budgets, too.
func (r *usageReport) poolsOf(l *usageLine) (owners []budgetOwner) {
	i := slices.Index(r.by.names(), "key")
	if i < 0 || r.groupsOf == nil {
		return nil
	}
	for _, name := range r.groupsOf(l.values[i]) {
		owners = append(owners, budgetOwner{"group", name})
	}
	return owners
}

// owners are those of all lines, each once, the groups of keys last.
func (r *usageReport) owners() (owners []budgetOwner) {
	seen := map[budgetOwner]bool{}
	for _, of := range []func(*usageLine) []budgetOwner{r.ownersOf, r.poolsOf} {
		for _, l := range r.lines {
			for _, o := range of(l) {
				if !seen[o] {
					seen[o] = true
					owners = append(owners, o)
				}
			}
		}
	}
	return owners
}

// besideBudget is a budget that belongs beside a line.
type besideBudget struct {
	budgetLeft
	pool string // "group research"; empty: it is the line's own
}

// beside are the budgets of a line, those with the least left first: its own, and for each unit and models the one of a key's groups
// that has the least left, if that is less than its own have.
func (t usageTable) beside(l *usageLine) (list []besideBudget) {
	for _, o := range t.ownersOf(l) {
		for _, b := range t.lasting(o) {
			list = append(list, besideBudget{budgetLeft: b})
		}
	}
	for _, o := range t.poolsOf(l) {
		for _, b := range t.lasting(o) {
			same := func(other besideBudget) bool {
				return other.limit.Unit == b.limit.Unit && slices.Equal(other.limit.Models, b.limit.Models)
			}
			if b.limit.Observe || slices.ContainsFunc(list, func(other besideBudget) bool {
				return same(other) && !other.limit.Observe && other.remaining <= b.remaining
			}) {
				continue // it never is what refuses a call
			}
			list = slices.DeleteFunc(list, func(other besideBudget) bool { return same(other) && other.pool != "" })
			list = append(list, besideBudget{b, o.kind + " " + o.name})
		}
	}
	slices.SortStableFunc(list, func(a, b besideBudget) int { return cmp.Compare(a.share(), b.share()) })
	return list
}

// addBudgets puts the budgets of each line beside it; further ones get lines of their own.
func (t usageTable) addBudgets(g *grid) {
	if len(t.budgets) == 0 {
		return
	}
	titles, width := g.rows[0], len(g.right)
	rows := [][]string{append(titles, "BUDGET", "LEFT", "RESETS")}
	for i, l := range t.shown() {
		row := g.rows[i+1]
		for _, b := range t.beside(l) {
			text := sentenceCell(b.budgetLeft)
			if b.pool != "" {
				text = nameCell(b.pool) + ": " + text
			}
			rows = append(rows, append(row, text, amountLeft(b.budgetLeft), t.reset(b.budgetLeft)))
			row = make([]string, width)
		}
		if row[0] != "" {
			rows = append(rows, append(row, "", "", ""))
		}
	}
	for _, row := range g.rows[len(t.shown())+1:] {
		rows = append(rows, append(row, "", "", ""))
	}
	g.rows, g.right = rows, append(g.right, false, true, false)
}

// sentenceCell is a limit, and what raises it.
func sentenceCell(b budgetLeft) string {
	if b.raised == "" {
		return nameCell(b.limit.Text)
	}
	return nameCell(b.limit.Text) + ", " + b.raised
}

// budgetList is a table of its own for reports whose lines are not those of one owner.
func (t usageTable) budgetList() string {
	rows := [][]string{{"OWNER", "BUDGET", "LEFT", "RESETS"}}
	for _, o := range t.owners() {
		for _, b := range t.lasting(o) {
			rows = append(rows, []string{o.kind + " " + nameCell(o.name), sentenceCell(b), amountLeft(b), t.reset(b)})
		}
	}
	if len(rows) == 1 {
		return ""
	}
	return "\n" + (&grid{right: []bool{false, false, true, false}, rows: rows}).String()
}

// lasting are the budgets of an owner that are worth a line, those with the least left first.
func (t usageTable) lasting(o budgetOwner) []budgetLeft {
	list := slices.DeleteFunc(slices.Clone(t.budgets[o]), func(b budgetLeft) bool { return !b.lasting() })
	slices.SortStableFunc(list, func(a, b budgetLeft) int {
		return cmp.Or(cmp.Compare(a.share(), b.share()), strings.Compare(a.limit.Text, b.limit.Text))
	})
	return list
}

// share is the part that is left.
func (b budgetLeft) share() float64 { return float64(b.remaining) / float64(max(1, b.amount)) }

// amountLeft says how much is left.
func amountLeft(b budgetLeft) string {
	if b.limit.Unit == limit.Dollars {
		return moneyCell(cost.NanoUSD(b.remaining))
	}
	return thousands(b.remaining)
}

func (t usageTable) reset(b budgetLeft) string {
	if b.resets.IsZero() {
		return "never"
	}
	return stamp(b.resets.In(t.zone))
}
