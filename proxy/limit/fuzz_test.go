package limit_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/proxy/limit"
)

// FuzzParse: no input panics; what is accepted prints as a sentence with the same meaning; what is refused says where
// and how to mend it, and the sentence it proposes is accepted.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"200k tokens per minute, burst 600k", "60 requests in any 30 seconds", "$50 each month on gpt-5* and o3", "$0.25 per request",
		"1.5m uncached input tokens in total, until 2027-01-31, observe only", "200k tpm", "$10/day", "10 dollars a month", "1,000 tok/s", "8 at once",
		"", ",", "$", "$ 5 a day on", "5 burst observe until", "−5 tokens", "100k tokens per day", "9k tokens per 2 hours", "10$ monthly", "USD 10",
	} {
		f.Add(s)
	}
	zone := berlin(f)
	f.Fuzz(func(t *testing.T, s string) {
		l, err := limit.Parse(s, zone)
		if err != nil {
			soundError(t, s, err, func(fix string) error {
				_, err := limit.Parse(fix, zone)
				return err
			})
			return
		}
		again, err := limit.Parse(l.String(), zone)
		if err != nil {
			t.Fatalf("%q prints as %q, which is refused: %v", s, l.String(), err)
		}
		again.Text = l.Text
		if diff := cmp.Diff(l, again, cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })); diff != "" {
			t.Fatalf("%q prints as %q, which means something else:\n%s", s, l.String(), diff)
		}
		if l.Amount <= 0 || l.Capacity() <= 0 || l.ID() != again.ID() || l.Plain() != again.Plain() {
			t.Fatalf("%q is not sound: %+v", s, l)
		}
	})
}

// soundError checks the error that refuses s; parse is what refused it.
func soundError(t *testing.T, s string, err error, parse func(fix string) error) {
	t.Helper()
	e, ok := errors.AsType[*limit.Error](err)
	if !ok || e.Msg == "" || e.Fix == "" {
		t.Fatalf("%q: the error is not one with a message and a fix: %#v", s, err)
	}
	if e.Offset < 0 || e.Length < 0 || e.Offset+e.Length > len(s) {
		t.Fatalf("%q: points outside: offset %d length %d", s, e.Offset, e.Length)
	}
	if utf8.ValidString(s) && !utf8.ValidString(e.Error()) {
		t.Fatalf("%q: the message is not UTF-8: %q", s, e.Error())
	}
	if fix, found := strings.CutPrefix(e.Fix, "write `"); found && strings.Count(fix, "`") == 1 && !strings.HasPrefix(fix, "until") {
		if fix = strings.TrimSuffix(fix, "`"); strings.Count(fix, " ") > 3 {
			if err := parse(fix); err != nil {
				t.Fatalf("%q: proposes %q, which is refused: %v", s, fix, err)
			}
		}
	}
}
