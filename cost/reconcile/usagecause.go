package reconcile

import (
	"fmt"
	"slices"
	"strings"
)

// cause finds what a line by itself makes likely.
func (c *comparison) cause(l *Line, model []*Line) (Cause, string) {
	switch {
	case !c.kept[l.Date]:
		return NotKept, "the ledger has nothing at all on this day: the proxy did not run, kept another ledger, or everything went around it"
	case !c.used[l.Date]:
		return NotCounted, "the provider has nothing at all on this day: it may not have counted it yet, or the export is of another project or key"
	case l.Model == AllModels:
		return c.sumCause(l, model)
	case l.Model == FeesLine:
		return feeCause(l)
	case l.Compared&(Input|Output) == 0 && l.Beyond&Cost != 0 && l.Beyond&Requests == 0:
		return OtherPrices, "the export has costs here and no tokens: give its usage, too, to tell prices from calls"
	case l.Beyond&(Requests|Input|Output) == 0:
		return c.costCause(l, model)
	case c.unreported(l):
		return Unreported, c.unreportedWords(l)
	}
	requests, tokens := l.difference(Requests), l.tokens()
	switch {
	case l.Beyond&(Input|Output) == 0 && l.Compared&(Input|Output) != 0:
		return FailedCalls, failedWords(requests)
	case requests > 0 && !l.less(Input|Output), l.Compared&Requests == 0 && tokens > 0 && !l.less(Input|Output):
		return Around, aroundWords(l, requests, tokens)
	case requests < 0 && !l.more(Input|Output), l.Compared&Requests == 0 && tokens < 0 && !l.more(Input|Output):
		return NotThere, c.missingWords(l, requests, tokens)
	case l.Beyond&Requests == 0:
		return TokenCounts, countWords(l)
	}
	return Mixed, "the provider has more of one figure and less of another: several causes at once; compare single projects or keys"
}

// difference is how much more the provider has of a figure that is beyond the tolerance.
func (l *Line) difference(f Figures) int64 {
	if l.Beyond&f == 0 {
		return 0
	}
	return minus(l.Provider.figure(f), l.Ledger.figure(f))
}

// tokens is how many more tokens the provider has.
func (l *Line) tokens() int64 { return plus(l.difference(Input), l.difference(Output)) }

// more reports whether the provider has more of any of these figures.
func (l *Line) more(f Figures) bool {
	return slices.ContainsFunc(each(f), func(one Figures) bool { return l.difference(one) > 0 })
}

// less reports whether the provider has less of any of these figures.
func (l *Line) less(f Figures) bool {
	return slices.ContainsFunc(each(f), func(one Figures) bool { return l.difference(one) < 0 })
}

func each(f Figures) (figures []Figures) {
	for _, n := range figureNames {
		if f&n.figure != 0 {
			figures = append(figures, n.figure)
		}
	}
	return figures
}

// reported is what the ledger has of a figure without what the provider did not report.
func (l *Line) reported(f Figures) int64 {
	return minus(minus(l.Ledger.figure(f), l.Ledger.Unreported.figure(f)), l.Ledger.Counted.figure(f))
}

// unreported reports whether what the ledger has more is no more than what it charged without a report.
func (c *comparison) unreported(l *Line) bool {
	some := false
	for _, f := range each(l.Compared & (Requests | Input | Output)) {
		here, there, without := l.Ledger.figure(f), l.Provider.figure(f), l.reported(f)
		switch {
		case c.Tolerance.agree(f, here, there):
		case there > here || without > there && !c.Tolerance.agree(f, without, there):
			return false
		default:
			some = some || without < here
		}
	}
	return some
}

func (c *comparison) unreportedWords(l *Line) string {
	var parts []string
	for _, s := range []struct {
		share Share
		how   string
	}{
		{l.Ledger.Unreported, "at the whole reservation, since nobody said what they used (broken off, no answer, a crash)"},
		{l.Ledger.Counted, "as the proxy counted them"},
	} {
		if s.share != (Share{}) {
			parts = append(parts, fmt.Sprintf("%s with %s %s", counted(s.share.Requests, "call"), counted(plus(s.share.Input, s.share.Output), "token"), s.how))
		}
	}
	words := "charged without a report of the provider: " + strings.Join(parts, "; ") + "; without them the ledger has no more than the provider"
	if without := l.reported(Cost); l.Beyond&Cost != 0 && without > int64(l.Provider.Cost) && !c.Tolerance.agree(Cost, without, int64(l.Provider.Cost)) {
		words += ", but for its costs: see days without such calls"
	}
	return words
}

func aroundWords(l *Line, requests, tokens int64) string {
	var b strings.Builder
	if requests > 0 {
		fmt.Fprintf(&b, "the provider has %s and %s more: ", counted(requests, "request"), counted(tokens, "token"))
	} else {
		fmt.Fprintf(&b, "the provider has %s more, and the export has no requests: ", counted(tokens, "token"))
	}
	b.WriteString("calls that did not pass this proxy, such as those of another program with a key of the same account")
	if l.Provider.Batch > 0 {
		fmt.Fprintf(&b, "; of its requests %s were in batch jobs, which never pass the proxy", grouped(l.Provider.Batch))
	}
	if len(l.LedgerModels) == 0 {
		b.WriteString("; the ledger does not have the model on this day")
	}
	return b.String()
}

func failedWords(requests int64) string {
	if requests > 0 {
		return fmt.Sprintf("the provider has %s more and no more tokens: it counts calls that failed or were tried again; or the calls are small, and did not pass this proxy", counted(requests, "request"))
	}
	return fmt.Sprintf("the ledger has %s more and no more tokens: calls that used next to nothing, or that the provider does not count", counted(-requests, "request"))
}

func (c *comparison) missingWords(l *Line, requests, tokens int64) string {
	more := counted(-tokens, "token")
	if requests < 0 {
		more = counted(-requests, "request") + " and " + more
	}
	if table := tableOf(l.Model); len(l.ProviderModels) == 0 && table != completions && !slices.Contains(c.export.Kinds, table) {
		return fmt.Sprintf("the ledger has %s more: models like this one are in another table of the provider: export /v1/organization/usage/%s, too", more, table)
	}
	return fmt.Sprintf("the ledger has %s more: the export is of one project or key only, or was made before the provider had counted everything, or calls went to another upstream (-upstream)", more)
}

func countWords(l *Line) string {
	var parts []string
	for _, f := range each(l.Beyond & (Input | Output)) {
		name := map[Figures]string{Input: "input", Output: "output"}[f]
		if times := ratio(l.Provider.figure(f), l.Ledger.figure(f), 3); times != "" {
			parts = append(parts, name+" is "+times+" times the ledger's")
		} else {
			parts = append(parts, "the ledger has no "+name)
		}
	}
	words := "the requests agree and the tokens do not: at the provider " + strings.Join(parts, ", ") + "; what it reports with its answers is not what it counts"
	if l.Compared&Requests == 0 {
		words = "the tokens do not agree: at the provider " + strings.Join(parts, ", ")
	}
	if n := plus(l.Ledger.Counted.Requests, l.Ledger.Unreported.Requests); n > 0 {
		words += fmt.Sprintf("; %s of the ledger had no report", counted(n, "call"))
	}
	return words
}
