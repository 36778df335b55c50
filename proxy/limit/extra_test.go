package limit_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/proxy/limit"
)

func TestExtrasAreUnderstood(t *testing.T) {
	zone := berlin(t)
	until := time.Date(2027, 1, 31, 0, 0, 0, 0, zone)
	for _, c := range []struct {
		sentence  string
		want      limit.Extra // without Text
		canonical string
	}{
		{"+$20 until 2027-01-31", limit.Extra{Amount: 20 * usd, Unit: limit.Dollars, Until: until}, ""},
		{"+1m tokens until 2027-01-31", limit.Extra{Amount: 1_000_000, Until: until}, ""},
		{"+5 requests each day until 2027-01-31", limit.Extra{Amount: 5, Unit: limit.Requests, Said: true, Kind: limit.Each, Period: limit.Day, Until: until}, ""},
		{"+$0.25 in total until 2027-01-31", limit.Extra{Amount: usd / 4, Unit: limit.Dollars, Said: true, Kind: limit.InTotal, Until: until}, ""},
		{"+4k output tokens each month until 2027-01-31 on gpt-5* and o3", limit.Extra{Amount: 4000, Unit: limit.OutputTokens, Said: true, Kind: limit.Each, Period: limit.Month, Models: []string{"gpt-5*", "o3"}, Until: until}, "+4k output tokens each month until 2027-01-31 on gpt-5* o3"},
		{"  +$20   ON gpt-5* , UNTIL 2027-01-31 ", limit.Extra{Amount: 20 * usd, Unit: limit.Dollars, Models: []string{"gpt-5*"}, Until: until}, "+$20 until 2027-01-31 on gpt-5*"},
		{"+1_000 uncached input tokens each hour, until 2027-01-31, on a", limit.Extra{Amount: 1000, Unit: limit.UncachedInputTokens, Said: true, Kind: limit.Each, Period: limit.Hour, Models: []string{"a"}, Until: until}, "+1k uncached input tokens each hour until 2027-01-31 on a"},
	} {
		got, err := limit.ParseExtra(c.sentence, zone)
		if err != nil {
			t.Errorf("%q: %v", c.sentence, err)
			continue
		}
		c.want.Text = strings.Join(strings.Fields(c.sentence), " ")
		if diff := cmp.Diff(c.want, got, cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.sentence, diff)
		}
		if c.canonical == "" {
			c.canonical = c.sentence
		}
		if got.String() != c.canonical {
			t.Errorf("%q prints as %q, want %q", c.sentence, got.String(), c.canonical)
		}
	}
}

func TestMistakesInExtrasComeWithTheSentenceToWrite(t *testing.T) {
	for sentence, want := range map[string]string{
		"$20 until 2027-01-31":                    "+$20 until 2027-01-31",
		"+ $20 until 2027-01-31":                  "+$20 until 2027-01-31",
		"+20$ until 2027-01-31":                   "+$20 until 2027-01-31",
		"+20 dollars till 2027-01-31":             "+$20 until 2027-01-31",
		"$20 more monthly until 2027-01-31":       "+$20 each month until 2027-01-31",
		"+$20 per month, until 2027-01-31":        "+$20 each month until 2027-01-31",
		"+1,000 tokens until 2027-01-31":          "+1000 tokens until 2027-01-31",
		"+1 million tokens until 2027-01-31":      "+1m tokens until 2027-01-31",
		"+$20 for gpt-5* until 2027-01-31":        "+$20 until 2027-01-31 on gpt-5*",
		"extra $20 in total until 2027-01-31":     "+$20 in total until 2027-01-31",
		"+5 calls each day on a until 2027-01-31": "+5 requests each day until 2027-01-31 on a",
	} {
		_, err := limit.ParseExtra(sentence, nil)
		e, ok := errors.AsType[*limit.Error](err)
		if !ok {
			t.Errorf("%q: want a *limit.Error, got %v", sentence, err)
			continue
		}
		if e.Fix != "write `"+want+"`" {
			t.Errorf("%q: fix is %q, want %q", sentence, e.Fix, want)
		}
	}
}

func TestRefusedExtras(t *testing.T) {
	for _, c := range []struct{ sentence, at, says string }{
		{"", "", "empty"},
		{",", ",", "empty"},
		{"+", "+", "plus sign"},
		{"$20 each month", "$20", "plus sign"},
		{"++$20 until 2027-01-31 please", "+$20", "not an amount"},
		{"+$-5 until 2027-01-31", "$-5", "negative"},
		{"+$0 until 2027-01-31", "$0", "nothing"},
		{"+many until 2027-01-31", "many", "not an amount"},
		{"+20 until 2027-01-31", "+20", "no unit"},
		{"+20", "+20", "no unit"},
		{"+20 bananas until 2027-01-31", "bananas", "not a unit"},
		{"+$20", "", "until when"},
		{"+$20 each month on gpt-5*", "", "until when"},
		{"+$20 per minute until 2027-01-31", "per", "can be raised"},
		{"+8 requests at once until 2027-01-31", "at", "can be raised"},
		{"+$20 in any hour until 2027-01-31", "in", "can be raised"},
		{"+$20 each year until 2027-01-31", "each", "can be raised"},
		{"+$20 please until 2027-01-31", "please", "can be raised"},
		{"+$20 until", "until", "one date"},
		{"+$20 until tomorrow", "tomorrow", "not a date"},
		{"+$20 until 2027-02-30", "2027-02-30", "not a date"},
		{"+$20 until 2027-01-31 until 2027-02-28", "until", "twice"},
		{"+$20 until 2027-01-31 on", "on", "no model"},
		{"+$20 until 2027-01-31 on a on b", "on", "twice"},
		{"+$20 until 2027-01-31 on a burst 5", "burst", "does not belong"},
		{"+$20 until 2027-01-31 please", "until", "one date"},
		{"+$20 until 2027-01-31, burst $5", "burst", "not understood"},
		{"+$20 until 2027-01-31,", ",", "nothing stands after"},
		{"+$20 until\x002027-01-31", "\x00", "printed"},
		{strings.Repeat("x", 2000), strings.Repeat("x", 1024), "longer"},
	} {
		_, err := limit.ParseExtra(c.sentence, nil)
		e, ok := errors.AsType[*limit.Error](err)
		if !ok {
			t.Errorf("%q: want a *limit.Error, got %v", c.sentence, err)
			continue
		}
		if at := c.sentence[e.Offset : e.Offset+e.Length]; at != c.at {
			t.Errorf("%q: points at %q, want %q", c.sentence, at, c.at)
		}
		if !strings.Contains(e.Msg, c.says) {
			t.Errorf("%q: says %q, want something with %q", c.sentence, e.Msg, c.says)
		}
		if e.Fix == "" || strings.Contains(e.Fix, "limits look like") {
			t.Errorf("%q: the fix is %q", c.sentence, e.Fix)
		}
	}
}

func TestAnExtraEndsWithTheDayBefore(t *testing.T) {
	zone := berlin(t)
	e, err := limit.ParseExtra("+$20 until 2027-01-31", zone)
	if err != nil {
		t.Fatal(err)
	}
	midnight := time.Date(2027, 1, 31, 0, 0, 0, 0, zone)
	if !e.Holds(midnight.Add(-1)) || e.Holds(midnight) || e.Holds(midnight.Add(time.Hour)) {
		t.Error("it does not hold until midnight, exactly")
	}
}

// FuzzParseExtra: no input panics; what is accepted prints as a sentence with the same meaning; what is refused says where
// and how to mend it, and the sentence it proposes is accepted.
func FuzzParseExtra(f *testing.F) {
	for _, s := range []string{
		"+$20 until 2027-01-31", "+1m tokens each month until 2027-01-31 on gpt-5* and o3", "+$5 in total, until 2027-01-31", "+5 requests on a, until 2027-01-31",
		"20 dollars more till 2027-01-31", "+ $20", "+", "until on until", "+1,000 tok each day", "+$20 each month until 2027-01-31 on a burst", ",", "plus plus",
	} {
		f.Add(s)
	}
	zone := berlin(f)
	f.Fuzz(func(t *testing.T, s string) {
		e, err := limit.ParseExtra(s, zone)
		if err != nil {
			soundError(t, s, err, func(fix string) error {
				_, err := limit.ParseExtra(fix, zone)
				return err
			})
			return
		}
		again, err := limit.ParseExtra(e.String(), zone)
		if err != nil {
			t.Fatalf("%q prints as %q, which is refused: %v", s, e.String(), err)
		}
		again.Text = e.Text
		if diff := cmp.Diff(e, again, cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })); diff != "" {
			t.Fatalf("%q prints as %q, which means something else:\n%s", s, e.String(), diff)
		}
		if e.Amount <= 0 || e.Until.IsZero() || e.Said && e.Kind != limit.Each && e.Kind != limit.InTotal {
			t.Fatalf("%q is not sound: %+v", s, e)
		}
	})
}
