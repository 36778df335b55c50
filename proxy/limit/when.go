package limit

import (
	"strconv"
	"strings"
	"time"
)

const (
	day       = 24 * time.Hour
	maxPeriod = 366 * day
)

var spans = [...]struct {
	name string
	d    time.Duration
}{{"day", day}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}}

var periodNames = [...]string{"hour", "day", "week", "month", "quarter"}

// String is the period as sentences say it: "month".
func (p Period) String() string {
	if int(p) < len(periodNames) {
		return periodNames[p]
	}
	return "unknown period"
}

// when reads the part of a sentence that relates its amount to time and returns the words after it.
func (l *Limit) when(words []word, end int) ([]word, *Error) {
	w := words[0]
	next := word{off: end}
	if len(words) > 1 {
		next = words[1]
	}
	var err *Error
	switch {
	case w.is("per") && next.is("request"):
		l.Kind = PerRequest
		return words[2:], nil
	case w.is("per"):
		l.Kind = Per
		l.Every, words, err = period(words, "per", end)
		return words, err
	case w.is("in") && next.is("total"):
		l.Kind = InTotal
		return words[2:], nil
	case w.is("in") && next.is("any"):
		l.Kind = InAny
		l.Every, words, err = period(words[1:], "in any", end)
		return words, err
	case w.is("at") && next.is("once"):
		l.Kind = AtOnce
		return words[2:], nil
	case w.is("at"):
		return nil, fail(w, "write `at once` for requests that run at the same time, for example `8 requests at once`", "%s is not understood here", quote(w.text))
	case w.is("in"):
		return nil, fail(w, "write `in any minute` or `in total`", "%s is not understood here", quote(w.text))
	case w.is("each"):
		i := next.oneOf(periodNames[:]...)
		if i < 0 {
			return nil, fail(w, "write `each hour`, `each day`, `each week`, `each month` or `each quarter`; for other times `per 5 minutes` or `in any 5 minutes`",
				"`each` goes with the periods of a calendar")
		}
		l.Kind, l.Period = Each, Period(i)
		return words[2:], nil
	}
	return nil, fail(w, examples, "%s is not understood here", quote(w.text))
}

// period reads [N] second|minute|hour|day after words[0] and returns the words after it.
func period(words []word, lead string, end int) (time.Duration, []word, *Error) {
	fix := "write `" + lead + " minute` or a multiple such as `" + lead + " 5 minutes`; the units are second, minute, hour and day"
	n, rest := int64(1), words[1:]
	if len(rest) > 0 && digit(rest[0].text[0]) {
		v, err := strconv.ParseInt(rest[0].text, 10, 32)
		if err != nil || v == 0 {
			return 0, nil, fail(rest[0], fix, "%s is not a number of seconds, minutes, hours or days", quote(rest[0].text))
		}
		n, rest = v, rest[1:]
	}
	if len(rest) == 0 {
		return 0, nil, &Error{Offset: end, Msg: "the limit does not say over what time", Fix: fix}
	}
	for _, s := range spans {
		if rest[0].oneOf(s.name, s.name+"s") < 0 {
			continue
		}
		if n > int64(maxPeriod/s.d) {
			return 0, nil, fail(rest[0], "the longest is 366 days; `in total` never refills", "%d %ss is too long", n, s.name)
		}
		return time.Duration(n) * s.d, rest[1:], nil
	}
	return 0, nil, fail(rest[0], fix, "%s is not a time a limit refills over", quote(rest[0].text))
}

// periodWords prints a duration of whole seconds as period reads it: "minute", "90 seconds".
func periodWords(d time.Duration) string {
	for _, s := range spans {
		if d%s.d == 0 && d > 0 {
			if d == s.d {
				return s.name
			}
			return strconv.FormatInt(int64(d/s.d), 10) + " " + s.name + "s"
		}
	}
	return d.String()
}

// date reads YYYY-MM-DD as the first instant of that day in zone.
func date(s string, zone *time.Location) (time.Time, bool) {
	if zone == nil {
		zone = time.UTC
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || t.Year() < 2000 || strings.HasPrefix(s, "0") {
		return time.Time{}, false
	}
	y, m, d := t.Date()
	start := time.Date(y, m, d, 0, 0, 0, 0, zone)
	if start.Day() != d { // clocks skip midnight there on that day: it begins an hour later
		start = time.Date(y, m, d, 1, 0, 0, 0, zone)
	}
	return start, true
}
