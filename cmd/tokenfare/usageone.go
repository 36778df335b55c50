package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// oneExchange is all that a ledger knows of one exchange.
type oneExchange struct {
	*ledger.Exchange
	corrections []ledger.Correction
	zone        *time.Location
}

// findExchange reads it. The error says why there is none.
func findExchange(ctx context.Context, s ledger.Snapshot, id ledger.ID, zone *time.Location) (*oneExchange, error) {
	x, err := s.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	if x == nil {
		kept, err := s.Kept(ctx)
		switch {
		case err != nil:
			return nil, err
		case id.Time().Before(kept):
			return nil, fmt.Errorf("%s is %w any more: it is of %s, and rows are kept since %s; sums are kept for ever", id, errNotFound, stamp(id.Time().In(zone)), stamp(kept.In(zone)))
		default:
			return nil, fmt.Errorf("%s is %w: it is of %s; look whether that is the ledger of the proxy that gave this id, and whether the request was refused: refusals are only counted", id, errNotFound, stamp(id.Time().In(zone)))
		}
	}
	out := &oneExchange{Exchange: x, zone: zone}
	at := id.Time()
	err = s.Corrections(ctx, at, at.Add(time.Microsecond), func(c *ledger.Correction) error {
		if c.Exchange == id {
			out.corrections = append(out.corrections, *c)
		}
		return nil
	})
	return out, err
}

// String prints it for people.
func (x *oneExchange) String() string {
	var out strings.Builder
	b, e := &x.Begin, x.End
	state := "running, or what a crash left: it is charged all that is reserved until it ends"
	if e != nil {
		state = e.Ending
	}
	fmt.Fprintf(&out, "%s: %s\n\n", b.Exchange, printable(state))
	var rows [][2]string
	row := func(name, format string, args ...any) {
		rows = append(rows, [2]string{name, fmt.Sprintf(format, args...)})
	}
	text := func(name, s string) {
		if s != "" {
			row(name, "%s", printable(s))
		}
	}
	row("began", "%s", x.instant(b.Exchange))
	text("key", b.Series.Key)
	text("groups", strings.ReplaceAll(b.Series.Groups, ",", ", "))
	text("label", b.Label)
	text("endpoint", b.Series.Endpoint)
	text("upstream", b.Series.Upstream)
	text("model", b.Model)
	if e != nil {
		text("served by", e.Served)
	}
	if b.Stream {
		row("streamed", "yes")
	}
	if b.Retry > 0 {
		row("tried before", "%s", plural(b.Retry, "time"))
	}
	row("estimate", "%s", estimateText(b.Estimate))
	row("reserved", "%s: %s", b.Reserved, usageText(b.Most))
	for _, d := range x.Draws {
		row("drawn", "%s: %s", d.Reserved, usageText(d.More))
	}
	text("price", b.Price)
	if e != nil {
		row("ended", "%s", x.instant(e.Seq))
		if e.Status != 0 {
			row("status", "%d", e.Status)
		}
		text("upstream's id", e.UpstreamID)
		if e.FirstToken > 0 {
			row("first byte", "after %s", e.FirstToken)
		}
		row("took", "%s", e.Took)
		row("charged", "%s: %s", e.Cost, usageText(e.Usage))
		row("because", "%s", basisText(e.Basis))
	}
	for _, c := range x.corrections {
		row("corrected", "%s: %s, %s, %s (%s)", x.instant(c.Seq), c.Cost, usageText(c.Usage), basisText(c.Basis), printable(c.Reason))
	}
	write(&out, rows)
	if budgets := x.budgets(); len(budgets.rows) > 1 {
		out.WriteString("\n" + budgets.String())
	}
	return out.String()
}

// instant is when an id was made, in the zone.
func (x *oneExchange) instant(id ledger.ID) string {
	return id.Time().In(x.zone).Format("2006-01-02 15:04:05.000") + " " + x.zone.String()
}

// budgets lists what it took from each.
func (x *oneExchange) budgets() *grid {
	g := &grid{right: []bool{false, true, true, true}, rows: [][]string{{"BUDGET", "RESERVED", "CHARGED", "BEYOND"}}}
	if x.End == nil {
		g.right, g.rows[0] = g.right[:2], g.rows[0][:2]
	}
	for _, c := range x.charges() {
		amount := func(n int64) string {
			if c.budget.Unit == limit.Dollars.String() {
				return cost.NanoUSD(n).String()
			}
			return thousands(n)
		}
		row := []string{printable(c.budget.Name), amount(c.reserved)}
		if x.End != nil {
			row = append(row, amount(c.charged), amount(c.late))
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// budgetCharge is what one budget is charged: what was held, then what was used of that, and beyond it.
type budgetCharge struct {
	budget                  ledger.Budget
	reserved, charged, late int64
}

// charges adds up what the rows say of each budget, in the order in which they name them.
func (x *oneExchange) charges() (list []budgetCharge) {
	of := func(b ledger.Budget) *budgetCharge {
		for i := range list {
			if list[i].budget == b {
				return &list[i]
			}
		}
		list = append(list, budgetCharge{budget: b})
		return &list[len(list)-1]
	}
	for _, c := range x.Begin.Charges {
		of(c.Budget).reserved += c.N
	}
	for _, d := range x.Draws {
		for _, c := range d.Charges {
			of(c.Budget).reserved += c.N
		}
	}
	if x.End != nil {
		for _, c := range x.End.Charges {
			of(c.Budget).charged += c.N
			of(c.Budget).late += c.Late
		}
	}
	for _, correction := range x.corrections {
		for _, c := range correction.Charges {
			of(c.Budget).charged += c.N
		}
	}
	return list
}

func basisText(basis string) string {
	switch basis {
	case ledger.Nothing:
		return "nothing is charged for this"
	case ledger.Reported:
		return "the upstream reported it"
	case ledger.Counted:
		return "it was counted here, as the upstream reported nothing"
	case ledger.Unreported:
		return "nobody knows what was used: it is all that was reserved"
	case ledger.Distrusted:
		return "what the upstream reported cannot be: it is what was counted or reserved, whichever is more"
	case ledger.Corrected:
		return "somebody has set the cost by hand"
	default:
		return printable(basis)
	}
}

// estimateText says what was expected before the call.
func estimateText(e cost.Estimate) string {
	parts := []string{}
	for p, n := range e.ByPart {
		if n != 0 {
			parts = append(parts, cost.Part(p).String()+" "+thousands(n))
		}
	}
	text := thousands(e.Input) + " input tokens"
	if len(parts) > 1 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return text + ", at most " + thousands(e.MaxOutput) + " of output; " + e.Basis.String()
}

// usageText names every figure of a usage that is not zero, parts behind their whole.
func usageText(u cost.Usage) string {
	figures := func(list ...any) (parts []string) {
		for i := 0; i < len(list); i += 2 {
			if n, ok := list[i].(int64); ok && n != 0 {
				parts = append(parts, fmt.Sprintf("%s %s", thousands(n), list[i+1]))
			}
		}
		return parts
	}
	whole := func(parts []string, of []string) []string {
		if len(parts) > 0 && len(of) > 0 {
			parts[0] += " (" + strings.Join(of, ", ") + ")"
		}
		return parts
	}
	parts := whole(figures(u.Input, "input"), figures(
		u.CachedInput, "cached", u.CacheWrite, "written to the cache", u.AudioInput, "audio", u.ImageInput, "images",
		u.CachedAudio, "cached audio", u.CachedImage, "cached images",
	))
	parts = append(parts, whole(figures(u.Output, "output"), figures(u.Reasoning, "reasoning", u.AudioOutput, "audio", u.ImageOutput, "images"))...)
	parts = append(parts, figures(u.Images, "pictures", u.Milliseconds, "ms of audio", u.Characters, "characters")...)
	if u.Fees != 0 {
		parts = append(parts, u.Fees.String()+" for tools")
	}
	if u.Tier != cost.Unstated {
		parts = append(parts, "tier "+u.Tier.String())
	}
	if len(parts) == 0 {
		return "no tokens"
	}
	return strings.Join(parts, ", ")
}
