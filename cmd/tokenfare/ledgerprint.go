package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// shownLines is how many differences, months and budgets are printed: beyond that, -json is for whoever wants them all.
const shownLines = 50

// print says for people what was found.
func (v *verified) print(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s\n\n", v.ledger, instantText(v.at, v.zone))
	v.printWhat(&b)
	v.printMonths(&b)
	v.printLive(&b)
	v.printDifferences(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

func (v *verified) printWhat(b *strings.Builder) {
	since := func(from string, whole bool) string {
		if whole {
			return ""
		}
		return ", from " + from + " on: of older rows some were dropped"
	}
	rows := [][2]string{
		{"calls", thousands(v.Exchanges) + ", and " + pluralOf(v.Corrections, "correction")},
		{"running", v.openText()},
		{"sums", pluralOf(v.Days, "daily sum") + ", " + pluralOf(v.Hours, "hourly sum") + since(instantText(v.HoursFrom, v.zone), v.HoursFrom.IsZero())},
		{"budgets", pluralOf(v.Slots, "quarter of an hour", "quarters of an hour") + since(instantText(v.SlotsFrom, v.zone), v.SlotsFrom.IsZero())},
		{"months", v.monthsText()},
		{"live", v.liveText()},
	}
	if v.Unpriced > 0 {
		rows = append(rows, [2]string{"unpriced", pluralOf(v.Unpriced, "call") + " whose price is not in the ledger, or cannot be read: their cost was not compared with it"})
	}
	if len(v.Unknown) > 0 {
		rows = append(rows, [2]string{"unknown", "charges in " + strings.Join(v.Unknown, ", ") + " were not compared with their calls: a newer version has made them"})
	}
	if len(v.damaged) > 0 {
		rows = append(rows, [2]string{"damaged", fmt.Sprintf("%s beside the ledger, %s the newest: calls of the moments before may be missing, which no row can show",
			pluralOf(int64(len(v.damaged)), "damaged journal"), printable(filepath.Base(v.damaged[len(v.damaged)-1])))})
	}
	write(b, rows)
}

func pluralOf(n int64, what string, many ...string) string {
	if len(many) == 0 {
		many = []string{what + "s"}
	}
	if n != 1 {
		what = many[0]
	}
	return thousands(n) + " " + what
}

func (v *verified) openText() string {
	if v.Open.N == 0 {
		return "none"
	}
	return fmt.Sprintf("%s, the oldest since %s; %s is reserved, and in no sum yet", thousands(v.Open.N), instantText(v.Open.Oldest.Time(), v.zone), v.Open.Reserved)
}

func (v *verified) monthsText() string {
	equal, other := 0, 0
	for i := range v.Months {
		for j := range v.Months[i].Budgets {
			if v.Months[i].Budgets[j].Whole() {
				equal++
			} else {
				other++
			}
		}
	}
	text := fmt.Sprintf("%s of a key", pluralOf(int64(len(v.Months)), "month"))
	if equal+other == 0 {
		return text + ", none with a budget in dollars of the key's own"
	}
	text += fmt.Sprintf("; %s charged by every call that cost something", pluralOf(int64(equal), "budget in dollars was", "budgets in dollars were"))
	if other > 0 {
		text += fmt.Sprintf(", %s by some", thousands(int64(other)))
	}
	return text
}

func (v *verified) liveText() string {
	if v.live.Skipped != "" {
		return "not compared: " + v.live.Skipped
	}
	count := map[string]int{}
	for _, b := range v.live.Budgets {
		count[b.State]++
	}
	text := fmt.Sprintf("%s of the proxy at %s: %d equal", pluralOf(int64(len(v.live.Budgets)), "budget"), v.live.Proxy, count[liveEqual])
	if n := count[liveWithin]; n > 0 {
		text += fmt.Sprintf(", %d within what is open", n)
	}
	if n := count[liveOthers]; n > 0 {
		text += fmt.Sprintf(", %d charged by others, too", n)
	}
	if n := count[liveRevised]; n > 0 {
		text += fmt.Sprintf(", %d not compared, as a reload has changed what refills", n)
	}
	if n := count[liveDiffers]; n > 0 {
		text += fmt.Sprintf(", %d different", n)
	}
	return text
}

// printMonths lists the budgets in dollars that were not charged by every call of their key's month, and why that may be.
func (v *verified) printMonths(out *strings.Builder) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	lines := 0
	for i := range v.Months {
		m := &v.Months[i]
		for j := range m.Budgets {
			budget := &m.Budgets[j]
			if budget.Whole() {
				continue
			}
			if lines++; lines <= shownLines {
				fmt.Fprintf(w, "  %s\t%s\t%s of %s calls\t%s of %s\t%s\n", m.Begin.Format("2006-01"), printable(budget.Budget),
					thousands(budget.Rows), thousands(m.Exchanges), budget.Charged, m.Cost, whyNotCharged(budget))
			}
		}
	}
	if lines == 0 {
		return
	}
	w.Flush()
	fmt.Fprintf(out, "\nBudgets in dollars that some of their key's calls did not charge, which is no mistake by itself:\n\n%s", b.String())
	if lines > shownLines {
		fmt.Fprintf(out, "  … and %d more: see -json\n", lines-shownLines)
	}
}

// whyNotCharged is what explains it, as far as rows can tell.
func whyNotCharged(b *ledger.MonthBudget) string {
	if _, rule, _ := strings.Cut(b.Budget, ": "); strings.Contains(rule, " on ") {
		return "it counts only some models"
	}
	var why []string
	if b.Before > 0 {
		why = append(why, fmt.Sprintf("%s before it was there", thousands(b.Before)))
	}
	if b.Between > 0 {
		why = append(why, fmt.Sprintf("%s in between, from %s on: was the limit away for a while?", thousands(b.Between), b.Uncharged))
	}
	if b.After > 0 {
		why = append(why, fmt.Sprintf("%s after it was gone", thousands(b.After)))
	}
	return strings.Join(why, "; ")
}

// printLive lists the budgets of the running proxy that are not equal.
func (v *verified) printLive(b *strings.Builder) {
	for _, name := range v.live.Others {
		fmt.Fprintf(b, "\nBudget %q is in only one of the configuration and the running proxy: one of the two is newer.\n", name)
	}
	lines := 0
	for _, one := range v.live.Budgets {
		if one.State != liveWithin {
			continue
		}
		if lines++; lines == 1 {
			fmt.Fprintln(b)
		}
		if lines <= shownLines {
			fmt.Fprintf(b, "  %s: the proxy has counted %s and the ledger %s; calls that run hold up to %s\n",
				printable(one.Name), figureText(one.Unit, one.Live), figureText(one.Unit, one.Ledger), figureText(one.Unit, one.Open))
		}
	}
}

func (v *verified) printDifferences(b *strings.Builder) {
	fmt.Fprintln(b)
	count := int64(len(v.Differences)) + v.Further
	for i, d := range v.Differences {
		if i == shownLines {
			break
		}
		fmt.Fprintf(b, "DIFFERS  %s\n         %s\n", v.differenceText(&d), d.Kind.Means())
	}
	if more := count - shownLines; more > 0 {
		fmt.Fprintf(b, "… and %s more: see -json\n", thousands(more))
	}
	for _, one := range v.live.Budgets {
		if one.State == liveDiffers {
			count++
			fmt.Fprintf(b, "DIFFERS  %s: the running proxy has counted %s, and the ledger comes to %s, with at most %s open.\n         %s\n",
				printable(one.Name), figureText(one.Unit, one.Live), figureText(one.Unit, one.Ledger), figureText(one.Unit, one.Open), liveMeans)
		}
	}
	if count > 0 {
		fmt.Fprintf(b, "\nThe books do NOT balance: %s.\n", pluralOf(count, "difference"))
		return
	}
	fmt.Fprintln(b, "The books balance.")
}

const liveMeans = "The next start will count what the ledger has: callers will have more or less left than now."

// differenceText says what differs, with both figures.
func (v *verified) differenceText(d *ledger.Difference) string {
	var b strings.Builder
	switch {
	case d.Exchange != 0:
		fmt.Fprintf(&b, "%s of %s", d.Exchange, instantText(d.At, v.zone))
	case d.Kind == ledger.DayDiffers && d.Names.Start == 0:
		b.WriteString("all days")
	case d.Kind == ledger.DayDiffers:
		fmt.Fprintf(&b, "day from %s", instantText(d.At, v.zone))
	case d.Kind == ledger.MonthDiffers:
		fmt.Fprintf(&b, "month %s", d.At.Format("2006-01"))
	case d.Kind == ledger.SlotDiffers && d.Text != "":
		fmt.Fprintf(&b, "%s %s", d.Text, instantText(d.At, v.zone))
	case d.Kind == ledger.SlotDiffers:
		fmt.Fprintf(&b, "quarter of an hour from %s", instantText(d.At, v.zone))
	default:
		fmt.Fprintf(&b, "hour from %s", instantText(d.At, v.zone))
	}
	if d.Key != "" {
		fmt.Fprintf(&b, ", key %s", printable(d.Key))
	}
	if h := d.Names; d.Kind == ledger.HourDiffers || d.Kind == ledger.DayDiffers {
		for _, one := range [][2]string{{"groups", h.Series.Groups}, {"endpoint", h.Series.Endpoint}, {"upstream", h.Series.Upstream}, {"model", h.Model}, {"served by", h.Served}, {"label", h.Label}} {
			if one[1] != "" {
				fmt.Fprintf(&b, ", %s %s", one[0], printable(one[1]))
			}
		}
	}
	if d.Budget != "" {
		fmt.Fprintf(&b, ", budget %q", d.Budget)
	}
	b.WriteString(": " + figuresText(d))
	if d.Text != "" && d.Kind != ledger.SlotDiffers {
		b.WriteString(" (" + d.Text + ")")
	}
	return b.String()
}

func figuresText(d *ledger.Difference) string {
	is, should := figureText(d.Figure, d.Is), figureText(d.Figure, d.Should)
	if d.Figure == "cost" {
		is = "a cost of " + is
	}
	switch d.Kind {
	case ledger.HourDiffers:
		return fmt.Sprintf("the sum is %s, and the rows come to %s", is, should)
	case ledger.DayDiffers:
		return fmt.Sprintf("the sum is %s, and the hours come to %s", is, should)
	case ledger.SlotDiffers:
		return fmt.Sprintf("the sum is %s, and the rows charged %s", is, should)
	case ledger.ChargeDiffers:
		return fmt.Sprintf("charged %s, and the call comes to %s", is, should)
	case ledger.ReserveDiffers:
		return fmt.Sprintf("reserved %s, and the call may come to %s", is, should)
	case ledger.NothingCosts:
		return "nothing is charged, and its row has " + is + " or a usage all the same"
	case ledger.MonthDiffers:
		return fmt.Sprintf("charged %s, and the calls cost %s", is, should)
	case ledger.NeverEnds:
		return "it has no end, and no writer knows of it; " + cost.NanoUSD(d.Should).String() + " was reserved"
	case ledger.TwoEnds:
		return "it has ended twice"
	case ledger.EndWithoutBegin, ledger.DrawWithoutBegin, ledger.CorrectionOfNoEnd:
		return "a row without what it belongs to: " + string(d.Kind)
	case ledger.BasisDiffers:
		return "its corrections do not follow each other"
	}
	return fmt.Sprintf("is %s, and should be %s", is, should)
}
