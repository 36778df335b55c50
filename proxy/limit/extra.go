package limit

import (
	"slices"
	"strings"
	"time"
)

// Extra is one parsed sentence that raises a limit for a while: "+$20 each month until 2027-01-31". Its zero value is not a
// valid extra; ParseExtra makes one.
type Extra struct {
	Text   string    // the sentence as it was written, trimmed
	Amount int64     // what it adds, in the unit; nano-dollars for Dollars; always > 0
	Unit   Unit      // of the limit it raises
	Said   bool      // whether it says which kind of limit it raises, as in "each month" or "in total"
	Kind   Kind      // if so: Each or InTotal; otherwise meaningless
	Period Period    // Each: the calendar period
	Models []string  // globs of the models that the limit counts, in the order written; empty: all
	Until  time.Time // the instant from which it no longer holds
}

const extraExamples = "extras look like `+$20 until 2027-01-31` or `+1m tokens each month until 2027-01-31 on gpt-5*`"

// ParseExtra reads one sentence. Dates are taken in zone (nil: UTC). The error is always an *Error; its fix is a sentence
// to write instead wherever the mistake is one people make often. Sentences over 1024 bytes are refused.
func ParseExtra(sentence string, zone *time.Location) (Extra, error) {
	e, err := parseExtra(sentence, zone)
	if err == nil {
		return e, nil
	}
	err.Fix = strings.Replace(err.Fix, examples, extraExamples, 1) // of the parts that limits have, too
	if better := rewriteExtra(sentence); better != "" {
		if _, again := parseExtra(better, zone); again == nil {
			err.Fix = "write `" + better + "`"
		}
	}
	return Extra{}, err
}

// parseExtra is ParseExtra without second thoughts.
func parseExtra(sentence string, zone *time.Location) (Extra, *Error) {
	words, err := extraWords(sentence)
	if err != nil {
		return Extra{}, err
	}
	sign := words[0]
	number, found := strings.CutPrefix(sign.text, "+")
	if !found || number == "" {
		return Extra{}, fail(sign, extraExamples, "an extra begins with a plus sign and its amount")
	}
	var l Limit // the limit of which the sentence says the same
	n, dollars, err := amount(word{text: number, off: sign.off + 1})
	if err != nil {
		return Extra{}, err
	}
	l.Amount = n
	rest, end := words[1:], len(sentence)
	if dollars {
		l.Unit = Dollars
	} else if l.Unit, rest, err = unit(sign, rest, end); err != nil {
		return Extra{}, err
	}
	said := len(rest) > 0 && rest[0].oneOf("until", "on") < 0
	if said {
		w := rest[0]
		if rest, err = l.when(rest, end); err != nil || l.Kind != Each && l.Kind != InTotal {
			return Extra{}, fail(w, "write `each hour`, `each day`, `each week`, `each month`, `each quarter` or `in total`, or leave it out: "+extraExamples,
				"only limits with `each` or `in total` can be raised for a while")
		}
	}
	if err := l.untilAndOn(rest, zone); err != nil {
		return Extra{}, err
	}
	if l.Until.IsZero() {
		return Extra{}, &Error{Offset: end, Msg: "the extra does not say until when", Fix: "add the first day on which it no longer holds, for example `until 2027-01-31`"}
	}
	return Extra{
		Text: strings.Join(strings.Fields(sentence), " "), Amount: l.Amount, Unit: l.Unit,
		Said: said, Kind: l.Kind, Period: l.Period, Models: l.Models, Until: l.Until,
	}, nil
}

// extraWords splits a sentence into its words, at least one. Commas may stand where a limit has them.
func extraWords(sentence string) ([]word, *Error) {
	parts, err := clauses(sentence)
	if err != nil {
		return nil, err
	}
	for i, part := range parts {
		switch {
		case i == 0 && len(part) == 0:
			return nil, &Error{Length: len(sentence), Msg: "the extra is empty", Fix: extraExamples}
		case len(part) == 0:
			return nil, &Error{Offset: strings.LastIndexByte(sentence, ','), Length: 1, Msg: "nothing stands after this comma", Fix: "remove the comma; " + extraExamples}
		case i > 0 && part[0].oneOf("until", "on") < 0:
			return nil, fail(part[0], extraExamples, "%s is not understood here", quote(part[0].text))
		}
	}
	return slices.Concat(parts...), nil
}

// untilAndOn reads until DATE and on MODEL-GLOB…, in either order.
func (l *Limit) untilAndOn(words []word, zone *time.Location) *Error {
	for len(words) > 0 {
		w := words[0]
		next := 1 + slices.IndexFunc(words[1:], func(w word) bool { return w.oneOf("until", "on") >= 0 })
		if next == 0 {
			next = len(words)
		}
		var err *Error
		switch {
		case w.is("until") && !l.Until.IsZero() || w.is("on") && len(l.Models) > 0:
			return fail(w, "keep one of the two", "%s is said twice", quote(strings.ToLower(w.text)))
		case w.is("until"):
			err = l.clause("until", words[:next], zone)
		case w.is("on"):
			if i := slices.IndexFunc(words[:next], func(w word) bool { return w.oneOf("burst", "observe") >= 0 }); i > 0 {
				return fail(words[i], extraExamples, "%s does not belong to an extra", quote(words[i].text))
			}
			err = l.models(words[:next])
		default:
			return fail(w, extraExamples, "%s is not understood here", quote(w.text))
		}
		if err != nil {
			return err
		}
		words = words[next:]
	}
	return nil
}

// String is the canonical sentence: ParseExtra(e.String(), zone) means the same as e.
func (e Extra) String() string {
	s := "+" + FormatAmount(e.Unit, e.Amount)
	if e.Said {
		s += " " + Limit{Kind: e.Kind, Period: e.Period}.whenWords()
	}
	s += " until " + e.Until.Format(time.DateOnly)
	if len(e.Models) > 0 {
		s += " on " + strings.Join(e.Models, " ")
	}
	return s
}

// Holds reports whether it raises its limit at that instant.
func (e Extra) Holds(now time.Time) bool { return now.Before(e.Until) }

// spelledInExtras are words of extras that limits do not have.
var spelledInExtras = map[string]string{"till": "until", "til": "until", "more": "", "extra": "", "additional": "", "plus": "", "by": "", "raise": ""}

// rewriteExtra turns what people write elsewhere ("20 dollars more till 2027-01-31") into the grammar, or returns "" when it
// has nothing to offer. Its result is only a proposal: the caller parses it before showing it.
func rewriteExtra(sentence string) string {
	var said []string
	for w := range strings.FieldsSeq(strings.TrimLeft(sentence, "+ ")) {
		if other, ok := spelledInExtras[strings.ToLower(w)]; ok {
			w = other
		}
		said = append(said, w)
	}
	head, date, models := []string(nil), []string(nil), []string(nil)
	into := &head
	for w := range strings.FieldsSeq(rewrite(strings.Join(said, " "))) {
		switch w = strings.TrimSuffix(w, ","); w {
		case "until":
			into = &date
		case "on":
			into = &models
		}
		*into = append(*into, w)
	}
	if len(head) == 0 {
		return ""
	}
	return "+" + strings.Join(slices.Concat(head, date, models), " ")
}
