package limit

import (
	"strings"
	"time"
)

// Parse reads one sentence. Dates are taken in zone (nil: UTC). The error is always an *Error; its fix is a sentence
// to write instead wherever the mistake is one people make often. Sentences over 1024 bytes are refused.
func Parse(sentence string, zone *time.Location) (Limit, error) {
	l, err := parse(sentence, zone)
	if err == nil {
		return l, nil
	}
	if better := rewrite(sentence); better != "" && !err.settled {
		if _, again := parse(better, zone); again == nil {
			err.Fix = "write `" + better + "`"
		}
	}
	return Limit{}, err
}

// parse is Parse without second thoughts.
func parse(sentence string, zone *time.Location) (Limit, *Error) {
	parts, err := clauses(sentence)
	if err != nil {
		return Limit{}, err
	}
	l := Limit{Text: strings.Join(strings.Fields(sentence), " ")}
	if err := l.head(parts[0], len(sentence)); err != nil {
		return Limit{}, err
	}
	seen := map[string]bool{}
	for _, part := range parts[1:] {
		if len(part) == 0 {
			at := strings.LastIndexByte(sentence, ',')
			return Limit{}, &Error{Offset: at, Length: 1, Msg: "nothing stands after this comma", Fix: "remove the comma, or add `burst 600k`, `observe only` or `until 2027-01-31`"}
		}
		name := strings.ToLower(part[0].text)
		if seen[name] {
			return Limit{}, fail(part[0], "keep one of the two", "%s is said twice", quote(name))
		}
		seen[name] = true
		if err := l.clause(name, part, zone); err != nil {
			return Limit{}, err
		}
	}
	if err := l.sensible(parts[0]); err != nil {
		return Limit{}, err
	}
	return l, nil
}

// head reads AMOUNT [UNIT] WHEN [on MODEL-GLOB…].
func (l *Limit) head(words []word, end int) *Error {
	if len(words) == 0 {
		return &Error{Length: end, Msg: "the limit is empty", Fix: examples}
	}
	n, dollars, err := amount(words[0])
	if err != nil {
		return err
	}
	l.Amount = n
	rest := words[1:]
	switch {
	case dollars:
		l.Unit = Dollars
	case len(rest) > 1 && rest[0].is("at") && rest[1].is("once"):
		l.Unit = Requests // what else is there at once
	default:
		if l.Unit, rest, err = unit(words[0], rest, end); err != nil {
			return err
		}
	}
	if len(rest) == 0 {
		return &Error{Offset: end, Msg: "the limit does not say over what time", Fix: "add `per minute`, `in any hour`, `each month`, `per request` or `in total`"}
	}
	if rest, err = l.when(rest, end); err != nil {
		return err
	}
	if len(rest) == 0 {
		return nil
	}
	if !rest[0].is("on") {
		if rest[0].oneOf("burst", "observe", "until") >= 0 {
			return fail(rest[0], "put a comma before it", "%s needs a comma before it", quote(rest[0].text))
		}
		return fail(rest[0], examples, "%s is not understood here", quote(rest[0].text))
	}
	return l.models(rest)
}

// clause reads one part after a comma.
func (l *Limit) clause(name string, words []word, zone *time.Location) *Error {
	w := words[0]
	switch name {
	case "on":
		if len(l.Models) > 0 {
			return fail(w, "name all models after one `on`", `"on" is said twice`)
		}
		return l.models(words)
	case "burst":
		return l.burst(words)
	case "observe":
		if len(words) != 2 || !words[1].is("only") {
			return fail(w, "write `observe only`", "%s is not understood", quote(w.text))
		}
		l.Observe = true
		return nil
	case "until":
		if len(words) != 2 {
			return fail(w, "write a date, for example `until 2027-01-31`", `"until" takes one date`)
		}
		t, ok := date(words[1].text, zone)
		if !ok {
			return fail(words[1], "write the year, month and day, for example `until 2027-01-31`", "%s is not a date", quote(words[1].text))
		}
		l.Until = t
		return nil
	}
	return fail(w, "after a comma comes `burst 600k`, `observe only` or `until 2027-01-31`", "%s is not understood here", quote(w.text))
}

// models reads on MODEL-GLOB…; the words "and" and "or" may stand between globs.
func (l *Limit) models(words []word) *Error {
	expect := true
	for _, w := range words[1:] {
		if w.oneOf("and", "or") >= 0 {
			if expect {
				return fail(w, "name a model or pattern before it", "%s joins two models", quote(w.text))
			}
			expect = true
			continue
		}
		if w.oneOf("burst", "observe", "until", "on") >= 0 {
			return fail(w, "put a comma before it", "%s needs a comma before it", quote(w.text))
		}
		if i := strings.IndexAny(w.text, "\"'`[]{}()<>|;"); i >= 0 {
			return fail(w, "write names or patterns with * and ?, separated by blanks: `on gpt-5* o3-mini`", "%s is not a model pattern", quote(w.text))
		}
		l.Models = append(l.Models, w.text)
		expect = false
	}
	if expect {
		return fail(words[len(words)-1], "name a model or pattern, for example `on gpt-5*`", "no model follows %s", quote(words[len(words)-1].text))
	}
	return nil
}

// burst reads burst AMOUNT [UNIT]. The unit goes without saying; if said it must be the limit's own.
func (l *Limit) burst(words []word) *Error {
	if len(words) < 2 {
		return fail(words[0], "say how much may be spent at once, for example `burst 600k`", "burst needs an amount")
	}
	n, dollars, err := amount(words[1])
	if err != nil {
		return err
	}
	if dollars != (l.Unit == Dollars) {
		fix := "write the burst in dollars, too, for example `burst $5`"
		if dollars {
			fix = "write the burst in " + l.Unit.String() + ", too, for example `burst 600k`"
		}
		return fail(words[1], fix, "the burst is not in the limit's unit")
	}
	if len(words) > 2 {
		u, rest, err := unit(words[1], words[2:], 0)
		if err != nil || dollars || u != l.Unit || len(rest) > 0 {
			return fail(words[2], "write only the amount after burst: `burst "+words[1].text+"`", "%s is not understood here", quote(words[2].text))
		}
	}
	l.Burst = n
	return nil
}

// sensible refuses combinations that say nothing or not what was meant.
func (l *Limit) sensible(head []word) *Error {
	whole := word{text: "", off: head[0].off}
	last := head[len(head)-1]
	span := last.off + len(last.text) - whole.off
	refuse := func(msg, fix string) *Error {
		return &Error{Offset: whole.off, Length: span, Msg: msg, Fix: fix}
	}
	switch {
	case l.Burst > 0 && l.Kind != Per:
		return refuse("burst belongs to limits with `per` and a time, which refill steadily", "remove the burst")
	case l.Kind == AtOnce && l.Unit != Requests:
		return refuse("only requests are limited at once", "write how many may run at the same time, for example `8 requests at once`, and what they may use over a time, for example `200k tokens per minute`")
	case l.Kind == PerRequest && l.Unit == Requests:
		return refuse("one request is always one request", "count tokens or dollars per request, or requests per minute")
	case l.Kind == Per && l.Every > time.Hour && l.Burst == 0:
		p := periodWords(l.Every)
		other, smaller := *l, *l
		other.Kind, smaller.Burst = InAny, max(1, l.Amount/10)
		if l.Every == day {
			other.Kind, other.Period = Each, Day
		}
		err := refuse("a bucket that refills over more than an hour must say how much may be spent at once (when full, it would allow twice the amount in the first "+p+")",
			"write `"+other.String()+"`, or say how much at once: `"+smaller.String()+"`")
		err.settled = true
		return err
	}
	return nil
}
