package notify

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// mostText is the size in bytes from which on what else is due waits for the next message. Slack takes more; others that take
// its messages do not.
const mostText = 1500

// message is a text with a line for each notice, as Slack has it, and for how many there was room: at least for one.
func message(list []due, s *Settings) (text string, fit int) {
	for i := range list {
		line := plain(list[i].sentences(s.Zone))
		if fit > 0 && len(text)+len(line) > mostText {
			break
		}
		if fit > 0 {
			text += "\n"
		}
		text += line
		fit++
	}
	switch {
	case s.Help != "" && fit > 1:
		text += "\n" + plain(s.Help)
	case s.Help != "":
		text += " " + plain(s.Help)
	}
	return text, fit
}

// plain is a line that is shown as it is written: Slack takes <…> for links and mentions, such as <!channel>.
func plain(s string) string { return escape.Replace(strings.Join(strings.Fields(s), " ")) }

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// sentences say how much is used of what, and what comes next.
func (d *due) sentences(zone *time.Location) string {
	limit := strconv.Quote(d.Limit.Text)
	if d.Raised != "" {
		limit += " " + d.Raised
	}
	return fmt.Sprintf("%s has used %s %% of %s: %s. %s", d.Owner, grouped(d.Percent), limit, amounts(d.Limit.Unit, d.State), d.next(zone))
}

// next says what happens to calls, and for how long.
func (d *due) next(zone *time.Location) string {
	turn := d.turn(zone)
	var now, until string
	switch {
	case d.Limit.Observe:
		now = "It is only observed, so nothing is refused. "
	case d.Percent >= 100:
		until = capital(d.calls()) + " are refused"
	case d.Refused && d.Percent >= almost:
		until = "A call was refused, as too little is left for it; only smaller ones pass"
	}
	switch {
	case until == "" && turn == "":
		return now + "It never resets."
	case until == "":
		return now + "It " + turn + "."
	case turn == "":
		return until + ", and it never resets."
	default:
		return until + " until it " + turn + "."
	}
}

// turn says when the budget begins anew, or its limit ends; empty: never.
func (d *due) turn(zone *time.Location) string {
	const date = "Monday 2 January 2006 15:04 MST"
	switch until := d.Limit.Until; {
	case !until.IsZero() && (d.Ends.IsZero() || until.Before(d.Ends)):
		return "ends on " + until.In(zone).Format(date)
	case d.Ends.IsZero():
		return ""
	default:
		return "resets on " + d.Ends.In(zone).Format(date)
	}
}

// calls names those that the budget limits.
func (d *due) calls() string {
	calls := "its calls"
	switch kind, _, _ := strings.Cut(d.Owner, " "); kind {
	case "group":
		calls = "calls of its keys"
	case "upstream":
		calls = "calls to it"
	}
	if len(d.Limit.Models) > 0 {
		calls += " for these models"
	}
	return calls
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// amounts says how much is used of how much. Nobody wants to read a billionth of a dollar, unless the limit is as small; what
// is used is rounded down, as the percentage is.
func amounts(unit limit.Unit, s limiter.State) string {
	const dollar, cent = 1_000_000_000, 10_000_000
	if unit != limit.Dollars {
		name := unit.String()
		if s.Limit == 1 {
			name = strings.TrimSuffix(name, "s")
		}
		return grouped(s.Used) + " of " + grouped(s.Limit) + " " + name
	}
	used := s.Used
	if s.Limit >= dollar && s.Limit%cent == 0 {
		used -= used % cent
	}
	return money(used) + " of " + money(s.Limit)
}

func money(n int64) string {
	whole, cents, _ := strings.Cut(strings.TrimPrefix(cost.NanoUSD(n).String(), "$"), ".")
	return "$" + commas(whole) + "." + cents
}

func grouped(n int64) string { return commas(strconv.FormatInt(n, 10)) }

// commas puts one after every three digits, from the right.
func commas(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
