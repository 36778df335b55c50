package limit

import (
	"slices"
	"strings"
	"time"
)

// String is the canonical sentence: Parse(l.String(), zone) means the same as l.
func (l Limit) String() string {
	var b strings.Builder
	b.WriteString(FormatAmount(l.Unit, l.Amount) + " " + l.whenWords())
	if len(l.Models) > 0 {
		b.WriteString(" on " + strings.Join(l.Models, " "))
	}
	if l.Burst > 0 {
		b.WriteString(", burst " + formatNumber(l.Unit, l.Burst))
	}
	if l.Observe {
		b.WriteString(", observe only")
	}
	if !l.Until.IsZero() {
		b.WriteString(", until " + l.Until.Format(time.DateOnly))
	}
	return b.String()
}

// ID names the counter behind the limit: what is counted, on which models, over what time. The amount, burst,
// observing and end date are left out, so changing them keeps what was consumed.
func (l Limit) ID() string {
	id := l.Unit.String() + " " + l.whenWords()
	if models := scope(l.Models); len(models) > 0 {
		id += " on " + strings.Join(models, " ")
	}
	return id
}

// scope is a list of models in the one order that says the same.
func scope(models []string) []string {
	models = slices.Clone(models)
	slices.Sort(models)
	return slices.Compact(models)
}

// Plain explains the limit in words: "at most 600k tokens at once, then 200k tokens per minute".
func (l Limit) Plain() string {
	a := FormatAmount(l.Unit, l.Amount)
	var s string
	switch l.Kind {
	case Per:
		s = "at most " + FormatAmount(l.Unit, l.Capacity()) + " at once, then " + a + " per " + periodWords(l.Every)
	case InAny:
		s = "at most " + a + " in any " + periodWords(l.Every) + ", wherever it begins"
	case Each:
		s = "at most " + a + " each " + l.Period.String() + ", " + periodStarts[min(int(l.Period), len(periodStarts)-1)]
	case PerRequest:
		s = "at most " + a + " for any single request"
	case InTotal:
		s = "at most " + a + " in total, never refilled"
	case AtOnce:
		s = "at most " + a + " running at the same time"
	}
	if len(l.Models) > 0 {
		s += "; counts only " + strings.Join(l.Models, ", ")
	}
	if l.Observe {
		s += "; only observed, never refused"
	}
	if !l.Until.IsZero() {
		s += "; until " + l.Until.Format(time.DateOnly) + " begins"
	}
	return s
}

var periodStarts = [...]string{
	"starting anew on the hour", "starting anew at midnight", "starting anew on Monday",
	"starting anew on the 1st", "starting anew with January, April, July and October",
}

func (l Limit) whenWords() string {
	switch l.Kind {
	case Per:
		return "per " + periodWords(l.Every)
	case InAny:
		return "in any " + periodWords(l.Every)
	case Each:
		return "each " + l.Period.String()
	default:
		return l.Kind.String()
	}
}
