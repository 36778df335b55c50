package limit_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/proxy/limit"
)

const usd = 1_000_000_000

func berlin(t testing.TB) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestSentencesAreUnderstood(t *testing.T) {
	zone := berlin(t)
	newYear := time.Date(2027, 1, 1, 0, 0, 0, 0, zone)
	for _, c := range []struct {
		sentence  string
		want      limit.Limit // without Text
		canonical string
	}{
		{"200k tokens per minute", limit.Limit{Amount: 200_000, Every: time.Minute}, ""},
		{"200k tokens per minute, burst 600k", limit.Limit{Amount: 200_000, Every: time.Minute, Burst: 600_000}, ""},
		{"1.5m input tokens per 5 minutes", limit.Limit{Amount: 1_500_000, Unit: limit.InputTokens, Every: 5 * time.Minute}, ""},
		{"1_000 uncached input tokens in any 30 seconds", limit.Limit{Amount: 1000, Unit: limit.UncachedInputTokens, Kind: limit.InAny, Every: 30 * time.Second}, "1k uncached input tokens in any 30 seconds"},
		{"4k output tokens per request", limit.Limit{Amount: 4000, Unit: limit.OutputTokens, Kind: limit.PerRequest}, ""},
		{"60 requests in any minute", limit.Limit{Amount: 60, Unit: limit.Requests, Kind: limit.InAny, Every: time.Minute}, ""},
		{"1 request per second", limit.Limit{Amount: 1, Unit: limit.Requests, Every: time.Second}, ""},
		{"1 requests per 60 seconds", limit.Limit{Amount: 1, Unit: limit.Requests, Every: time.Minute}, "1 request per minute"},
		{"$50 each month", limit.Limit{Amount: 50 * usd, Unit: limit.Dollars, Kind: limit.Each, Period: limit.Month}, ""},
		{"$0.25 each hour", limit.Limit{Amount: usd / 4, Unit: limit.Dollars, Kind: limit.Each, Period: limit.Hour}, ""},
		{"$0.000000001 in total", limit.Limit{Amount: 1, Unit: limit.Dollars, Kind: limit.InTotal}, ""},
		{"$1.5k each quarter", limit.Limit{Amount: 1500 * usd, Unit: limit.Dollars, Kind: limit.Each, Period: limit.Quarter}, "$1500 each quarter"},
		{"$10 each month on gpt-5-pro*", limit.Limit{Amount: 10 * usd, Unit: limit.Dollars, Kind: limit.Each, Period: limit.Month, Models: []string{"gpt-5-pro*"}}, ""},
		{"30m tokens in any 24 hours on gpt-5* and o3* or Llama-3", limit.Limit{Amount: 30_000_000, Kind: limit.InAny, Every: 24 * time.Hour, Models: []string{"gpt-5*", "o3*", "Llama-3"}}, "30m tokens in any day on gpt-5* o3* Llama-3"},
		{"100k tokens per day, burst 20k, observe only, until 2027-01-01", limit.Limit{Amount: 100_000, Every: 24 * time.Hour, Burst: 20_000, Observe: true, Until: newYear}, ""},
		{"  $5 EACH Day ,  until 2027-01-01 ,observe only", limit.Limit{Amount: 5 * usd, Unit: limit.Dollars, Kind: limit.Each, Period: limit.Day, Observe: true, Until: newYear}, "$5 each day, observe only, until 2027-01-01"},
		{"60 requests per minute, burst 10 requests", limit.Limit{Amount: 60, Unit: limit.Requests, Every: time.Minute, Burst: 10}, "60 requests per minute, burst 10"},
		{"8 at once", limit.Limit{Amount: 8, Unit: limit.Requests, Kind: limit.AtOnce}, "8 requests at once"},
		{"1 request at once", limit.Limit{Amount: 1, Unit: limit.Requests, Kind: limit.AtOnce}, ""},
		{"8 requests AT Once on gpt-5* and o3, observe only, until 2027-01-01", limit.Limit{Amount: 8, Unit: limit.Requests, Kind: limit.AtOnce, Models: []string{"gpt-5*", "o3"}, Observe: true, Until: newYear}, "8 requests at once on gpt-5* o3, observe only, until 2027-01-01"},
		{"1.0 requests per minute", limit.Limit{Amount: 1, Unit: limit.Requests, Every: time.Minute}, "1 request per minute"},
		{"1000000b tokens in total", limit.Limit{Amount: 1e15, Kind: limit.InTotal}, "1000000000m tokens in total"},
	} {
		got, err := limit.Parse(c.sentence, zone)
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

func TestMistakesComeWithTheSentenceToWrite(t *testing.T) {
	for sentence, want := range map[string]string{
		"200k tpm":                            "200k tokens per minute",
		"60 rpm":                              "60 requests per minute",
		"60rpm":                               "60 requests per minute",
		"$10/day":                             "$10 each day",
		"10 dollars a month":                  "$10 each month",
		"USD 10 per month":                    "$10 each month",
		"10$ monthly":                         "$10 each month",
		"10 $ per month":                      "$10 each month",
		"$1 per hour, burst 10 $":             "$1 per hour, burst $10",
		"0.50 $ per request, observe only":    "$0.50 per request, observe only",
		"$ 10 each month":                     "$10 each month",
		"100k tokens per month":               "100k tokens each month",
		"100k tokens per week":                "100k tokens each week",
		"200k tokens/min":                     "200k tokens per minute",
		"200 k tokens per minute":             "200k tokens per minute",
		"1,000 tokens per minute":             "1000 tokens per minute",
		"2 million tokens each day":           "2m tokens each day",
		"50k tokens per 90s":                  "50k tokens per 90 seconds",
		"60 requests every minute":            "60 requests per minute",
		"60 requests each minute":             "60 requests per minute",
		"60 calls per minute":                 "60 requests per minute",
		"60 requests in a minute":             "60 requests in any minute",
		"200k tokens per minute burst 600k":   "200k tokens per minute, burst 600k",
		"200k tokens per minute, burst of 1m": "200k tokens per minute, burst 1m",
		"200k tokens per minute, shadow":      "200k tokens per minute, observe only",
		"$10/day until 2027-01-31":            "$10 each day, until 2027-01-31",
		"200k tpm on openai/gpt-5*":           "200k tokens per minute on openai/gpt-5*",
		"200k tpm for gpt-5*":                 "200k tokens per minute on gpt-5*",
		"up to 200k tokens per minute":        "200k tokens per minute",
		"$100 total":                          "$100 in total",
		"4k completion tokens per request":    "4k output tokens per request",
		"4k output tokens per call":           "4k output tokens per request",
		"8 calls at once":                     "8 requests at once",
		"8 concurrent requests":               "8 requests at once",
		"max 8 concurrent":                    "8 requests at once",
		"concurrency 8":                       "8 requests at once",
		"8 in parallel, observe only":         "8 requests at once, observe only",
		"8 requests in parallel, shadow":      "8 requests at once, observe only",
		"at most 8 requests at a time":        "8 requests at once",
		"8 calls at the same time for gpt-5*": "8 requests at once on gpt-5*",
		"8 requests on gpt-5* at once":        "8 requests at once on gpt-5*",
	} {
		_, err := limit.Parse(sentence, nil)
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

func TestRefusedSentences(t *testing.T) {
	for _, c := range []struct{ sentence, at, says string }{
		{"", "", "empty"},
		{"   ", "   ", "empty"},
		{"tokens per minute", "tokens", "not an amount"},
		{"200k", "200k", "no unit"},
		{"60 per minute", "60", "no unit"},
		{"200k tokens", "", "over what time"},
		{"$10", "", "over what time"},
		{"200k tokens per", "", "over what time"},
		{"-5 tokens per minute", "-5", "negative"},
		{"$-5 each day", "$-5", "negative"},
		{"0 tokens per minute", "0", "nothing"},
		{"$0.00 each day", "$0.00", "nothing"},
		{"1.5 tokens per minute", "1.5", "whole number"},
		{"0.0005k requests per minute", "0.0005k", "whole number"},
		{"$0.0000000001 each day", "$0.0000000001", "billionth"},
		{"99999999999999999999999 tokens per minute", "99999999999999999999999", "too large"},
		{"9999999999b tokens per minute", "9999999999b", "too large"},
		{"$2000000000 each day", "$2000000000", "too large"},
		{"1__0 tokens per minute", "1__0", "not an amount"},
		{"1e6 tokens per minute", "1e6", "not an amount"},
		{"8 at", "8", "no unit"},
		{"8 requests at", "at", "not understood"},
		{"8 requests at most", "at", "not understood"},
		{"1.5 at once", "1.5", "whole number"},
		{"0 at once", "0", "nothing"},
		{"8 tokens at once", "8 tokens at once", "only requests"},
		{"$8 at once", "$8 at once", "only requests"},
		{"8 at once, burst 9", "8 at once", "burst belongs"},
		{"input tokens per minute", "input", "not an amount"},
		{"5k input per minute", "input", "not a unit by itself"},
		{"5k uncached tokens per minute", "uncached", "not a unit"},
		{"5k bananas per minute", "bananas", "not a unit"},
		{"5k tokens per fortnight", "fortnight", "refills over"},
		{"5k tokens per 0 minutes", "0", "not a number of seconds"},
		{"5k tokens per 1.5 minutes", "1.5", "not a number of seconds"},
		{"5k tokens in any 400 days", "days", "too long"},
		{"5k tokens each 2 months", "each", "calendar"},
		{"5k tokens in 5 minutes", "in", "not understood"},
		{"5k tokens per 2 hours", "5k tokens per 2 hours", "more than an hour"},
		{"5 requests per request", "5 requests per request", "always one"},
		{"$5 each day, burst $2", "$5 each day", "burst belongs"},
		{"5k tokens per minute, burst", "burst", "needs an amount"},
		{"5k tokens per minute, burst $5", "$5", "unit"},
		{"$5 per minute, burst 5k", "5k", "unit"},
		{"5k tokens per minute, burst 5k requests", "requests", "not understood"},
		{"5k tokens per minute, burst 5k, burst 6k", "burst", "twice"},
		{"5k tokens per minute,", ",", "nothing stands after"},
		{"5k tokens per minute, until tomorrow", "tomorrow", "not a date"},
		{"5k tokens per minute, until 2027-02-30", "2027-02-30", "not a date"},
		{"5k tokens per minute, until", "until", "one date"},
		{"5k tokens per minute, please", "please", "not understood"},
		{"5k tokens per minute on", "on", "no model"},
		{"5k tokens per minute on gpt-5 and", "and", "no model"},
		{"5k tokens per minute on and gpt-5", "and", "joins"},
		{"5k tokens per minute on [gpt-5]", "[gpt-5]", "pattern"},
		{"5k tokens per minute on a, on b", "on", "twice"},
		{"5k tokens per min\x00ute", "\x00", "printed"},
		{strings.Repeat("x", 2000), strings.Repeat("x", 1024), "longer"},
	} {
		_, err := limit.Parse(c.sentence, nil)
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
		if e.Fix == "" {
			t.Errorf("%q: has no fix", c.sentence)
		}
	}
}

func TestLongBucketsAreOfferedAnotherKindOrABurst(t *testing.T) {
	for sentence, want := range map[string][2]string{
		"5k tokens per 2 hours":                       {"5k tokens in any 2 hours", "5k tokens per 2 hours, burst 500"},
		"$10 per day on gpt-5*, observe only":         {"$10 each day on gpt-5*, observe only", "$10 per day on gpt-5*, burst $1, observe only"},
		"2 requests per 90 minutes, until 2027-01-31": {"2 requests in any 90 minutes, until 2027-01-31", "2 requests per 90 minutes, burst 1, until 2027-01-31"},
	} {
		_, err := limit.Parse(sentence, nil)
		e, _ := errors.AsType[*limit.Error](err)
		if e == nil {
			t.Fatalf("%q was accepted", sentence)
		}
		parts := strings.Split(e.Fix, "`")
		if len(parts) != 5 || parts[1] != want[0] || parts[3] != want[1] {
			t.Errorf("%q: the fix is %q, want it to offer %q", sentence, e.Fix, want)
			continue
		}
		for _, s := range want {
			if _, err := limit.Parse(s, nil); err != nil {
				t.Errorf("the fix proposes %q: %v", s, err)
			}
		}
	}
}

func TestUntilBeginsWithTheDayWhereClocksSkipMidnight(t *testing.T) {
	zone, err := time.LoadLocation("America/Havana")
	if err != nil {
		t.Fatal(err)
	}
	l, err := limit.Parse("$5 each day, until 2027-03-14", zone)
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Until.Format(time.RFC3339); got != "2027-03-14T01:00:00-04:00" {
		t.Errorf("holds until %s", got)
	}
}
