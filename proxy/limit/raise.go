package limit

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Assign finds what a key's extras raise: of[i] are those of limits[i], in their order. wrong[j], nil or an *Error about all
// of the sentence, is why extra[j] raises none of them. The answers do not hang on the day.
//
// An extra raises the calendar or total limit that counts the same unit of the same models; where there are several, it must
// say which. Several extras of one limit add up.
func Assign(limits []Limit, extra []Extra) (of [][]Extra, wrong []error) {
	of, wrong = make([][]Extra, len(limits)), make([]error, len(extra))
	for j, e := range extra {
		i, err := e.find(limits)
		if err == nil && !e.fits(limits[i], of[i]) {
			err = e.fault("write a smaller amount", "with this, %q is raised to more than a limit can be", limits[i].Text)
		}
		if err != nil {
			wrong[j] = err
			continue
		}
		of[i] = append(of[i], e)
	}
	return of, wrong
}

// find returns the index of the limit that the extra raises.
func (e Extra) find(limits []Limit) (int, *Error) {
	var found []int
	var near []string // what would raise others of its unit
	for i, l := range limits {
		if l.Unit != e.Unit || l.Kind != Each && l.Kind != InTotal {
			continue
		}
		if !e.says(l) {
			near = append(near, "`"+e.naming(l).String()+"`")
			continue
		}
		found = append(found, i)
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		fix := "give the key or its plan such a limit; that of a group or upstream is changed where it stands"
		if len(near) > 0 {
			fix = "write " + strings.Join(near, " or ")
		}
		return 0, e.fault(fix, "there is no limit of %s that it could raise", e.meant())
	}
	var which, texts []string
	for _, i := range found {
		which = append(which, "`"+e.naming(limits[i]).String()+"`")
		texts = append(texts, fmt.Sprintf("%q", limits[i].Text))
	}
	return 0, e.fault("say which: write "+strings.Join(which, " or "), "it could raise %s", strings.Join(texts, " or "))
}

// says reports whether what the extra says of its limit is true of one of its unit.
func (e Extra) says(l Limit) bool {
	return slices.Equal(scope(e.Models), scope(l.Models)) && (!e.Said || e.Kind == l.Kind && e.Period == l.Period)
}

// naming is the extra as it would be said of that limit.
func (e Extra) naming(l Limit) Extra {
	e.Said, e.Kind, e.Period, e.Models = true, l.Kind, l.Period, l.Models
	return e
}

// meant describes the limit that the extra speaks of.
func (e Extra) meant() string {
	s := e.Unit.String() + " with `each` or `in total`"
	if e.Said {
		s = e.Unit.String() + " " + Limit{Kind: e.Kind, Period: e.Period}.whenWords()
	}
	if len(e.Models) > 0 {
		s += " on " + strings.Join(e.Models, " ")
	}
	return s
}

// fits reports whether the limit, raised by all of these and this one, is no larger than one that can be written.
func (e Extra) fits(l Limit, others []Extra) bool {
	room := int64(maxCount)
	if l.Unit == Dollars {
		room = maxDollars * nanos
	}
	room -= l.Amount
	for _, other := range others {
		room -= other.Amount
	}
	return e.Amount <= room
}

func (e Extra) fault(fix, format string, args ...any) *Error {
	return fail(word{text: e.Text}, fix, format, args...)
}

// Raised returns the limit as it is at an instant, its amount raised by those of its extras that hold then, and these. Text
// stays what was written, and ID names the same counter.
func (l Limit) Raised(extra []Extra, now time.Time) (raised Limit, holding []Extra) {
	for _, e := range extra {
		if e.Holds(now) {
			l.Amount += e.Amount
			holding = append(holding, e)
		}
	}
	return l, holding
}

// RaisedBy says what extras do, as it is said after the sentence of their limit: "raised by $20 until 2027-01-31". It is
// empty for none.
func RaisedBy(extra []Extra) string {
	words := make([]string, len(extra))
	for i, e := range extra {
		words[i] = "by " + FormatAmount(e.Unit, e.Amount) + " until " + e.Until.Format(time.DateOnly)
	}
	if len(words) == 0 {
		return ""
	}
	return "raised " + strings.Join(words, " and ")
}
