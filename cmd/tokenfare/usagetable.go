package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// usageTable prints a report for people: it can be pasted into a mail.
type usageTable struct {
	*usageReport
	budgets map[budgetOwner][]budgetLeft // nil: none are known
	most    int                          // lines besides the total; 0: all
}

// The marks of costs that rest on something else than what an upstream reported.
const (
	markCounted    = "~"
	markUnreported = "^"
)

// String is the whole page.
func (t usageTable) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", t.span)
	b.WriteString(t.figures().String())
	if len(t.by) > 1 {
		b.WriteString(t.budgetList())
	}
	if notes := t.legend(); len(notes) > 0 {
		b.WriteString("\n" + strings.Join(notes, "\n") + "\n")
	}
	return b.String()
}

// shown are the lines there is room for.
func (t usageTable) shown() []*usageLine {
	if t.most > 0 && len(t.lines) > t.most {
		return t.lines[:t.most]
	}
	return t.lines
}

// figures is the table itself. Columns of what seldom happens are there when it did.
func (t usageTable) figures() *grid {
	var g grid
	lines := t.shown()
	hidden := len(t.lines) - len(lines)
	column := func(right bool, title, more, total string, cell func(l *usageLine) string) {
		all := []string{title}
		for _, l := range lines {
			all = append(all, cell(l))
		}
		if hidden > 0 {
			all = append(all, more)
		}
		g.column(right, append(all, total)...)
	}
	for i, name := range t.by.names() {
		more, total := "", ""
		if i == 0 {
			more, total = fmt.Sprintf("… and %d more", hidden), "total"
		}
		column(false, strings.ToUpper(name), more, total, func(l *usageLine) string { return nameCell(l.values[i]) })
	}
	number := func(title string, cell func(l *usageLine) string) { column(true, title, "", cell(&t.total), cell) }
	count := func(title string, of func(l *usageLine) int64) {
		number(title, func(l *usageLine) string { return thousands(of(l)) })
	}
	seldom := func(title string, of func(l *usageLine) int64, text func(int64) string) {
		if of(&t.total) == 0 {
			return
		}
		number(title, func(l *usageLine) string {
			if n := of(l); n != 0 {
				return text(n)
			}
			return ""
		})
	}
	count("REQUESTS", func(l *usageLine) int64 { return l.sums.Requests })
	seldom("FAILED", func(l *usageLine) int64 { return l.sums.Failed }, thousands)
	count("INPUT", func(l *usageLine) int64 { return l.sums.Input })
	number("CACHED", func(l *usageLine) string { return share(l.sums.CachedInput, l.sums.Input) })
	count("OUTPUT", func(l *usageLine) int64 { return l.sums.Output })
	count("REASONING", func(l *usageLine) int64 { return l.sums.Reasoning })
	seldom("IMAGES", func(l *usageLine) int64 { return l.sums.Images }, thousands)
	seldom("AUDIO", func(l *usageLine) int64 { return l.sums.Milliseconds }, func(n int64) string {
		return (time.Duration(n) * time.Millisecond).String()
	})
	seldom("CHARACTERS", func(l *usageLine) int64 { return l.sums.Characters }, thousands)
	marks := len(marksOf(t.total.sums))
	number("COST"+strings.Repeat(" ", marks), func(l *usageLine) string {
		own := marksOf(l.sums)
		return moneyCell(l.sums.Cost) + own + strings.Repeat(" ", marks-len(own))
	})
	number("REFUSED", func(l *usageLine) string {
		if l != &t.total && !t.by.tellsRefusals() {
			return ""
		}
		return thousands(l.refusals())
	})
	seldom("RUNNING", func(l *usageLine) int64 { return l.running.Requests }, thousands)
	seldom("HELD", func(l *usageLine) int64 { return int64(l.running.Cost) }, func(n int64) string { return moneyCell(cost.NanoUSD(n)) })
	if len(t.by) == 1 {
		t.addBudgets(&g)
	}
	return &g
}

// legend explains what is in the table and does not explain itself.
func (t usageTable) legend() (notes []string) {
	sums := t.total.sums
	note := func(is bool, format string, args ...any) {
		if is {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	note(sums.Counted > 0, "%s the upstream reported no usage for %s: charged is what was counted here.", markCounted, requests(sums.Counted))
	note(sums.Unreported > 0, "%s nobody knows what was used by %s: charged is all that was reserved, the most it can be.", markUnreported, requests(sums.Unreported))
	note(sums.Failed > 0, "FAILED requests are part of REQUESTS, and were charged nothing.")
	note(t.total.running.Requests > 0, "RUNNING requests have not ended. HELD is the most they can cost, and is not in COST.")
	if refused := t.total.refusals(); refused > 0 && !t.by.tellsRefusals() {
		note(true, "REFUSED is known by key, model, group and day alone.")
	}
	if t.by.has("group") {
		note(t.overlaps(), "A key in several groups counts in each of them, and once in the total.")
	}
	for _, d := range []string{"model", "label"} {
		i := slices.Index(t.by.names(), d)
		note(i >= 0 && slices.ContainsFunc(t.lines, func(l *usageLine) bool { return l.values[i] == "(other)" }),
			"(other) are %ss beyond the first 500 of a key in an hour.", d)
	}
	return notes
}

// overlaps reports whether some exchanges are in several lines.
func (t usageTable) overlaps() bool {
	var n int64
	for _, l := range t.lines {
		n += l.sums.Requests + l.running.Requests + l.refusals()
	}
	return n > t.total.sums.Requests+t.total.running.Requests+t.total.refusals()
}

func marksOf(s ledger.Sums) (marks string) {
	if s.Counted > 0 {
		marks += markCounted
	}
	if s.Unreported > 0 {
		marks += markUnreported
	}
	return marks
}

// nameCell is a name as it stands in a table: nothing is a dash, and a dash is quoted.
func nameCell(name string) string {
	const most = 64 // characters; names of models can have four times as many
	switch name {
	case "":
		return "-"
	case "-":
		return `"-"`
	}
	name = printable(name)
	if chars := []rune(name); len(chars) > most {
		name = string(chars[:most-1]) + "…"
	}
	return name
}

// share is a part in percent. Only nothing is 0%, and only all is 100%.
func share(part, of int64) string {
	switch {
	case of <= 0:
		return "-"
	case part <= 0:
		return "0%"
	case part >= of:
		return "100%"
	}
	switch p := 100 * float64(part) / float64(of); {
	case p < 1:
		return "<1%"
	case p > 99:
		return ">99%"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + "%"
	}
}

// moneyCell writes money to the cent, and what is less than a cent to two digits: nothing that was spent is $0.00.
func moneyCell(n cost.NanoUSD) string {
	const cent = 10_000_000
	sign, size := "", n
	if n < 0 {
		sign, size = "-", -max(n, -math.MaxInt64)
	}
	unit := cost.NanoUSD(cent)
	if size < cent {
		for unit = 1; size/unit >= 100; unit *= 10 {
		}
	}
	rounded := size / unit
	if size%unit >= (unit+1)/2 {
		rounded++
	}
	if size < cent {
		return sign + (rounded * unit).String()
	}
	return fmt.Sprintf("%s$%s.%02d", sign, thousands(int64(rounded/100)), rounded%100)
}

func requests(n int64) string {
	if n == 1 {
		return "1 request"
	}
	return thousands(n) + " requests"
}
