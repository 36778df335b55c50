package limit_test

import (
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/proxy/limit"
)

func must(t testing.TB, sentence string) limit.Limit {
	t.Helper()
	l, err := limit.Parse(sentence, nil)
	if err != nil {
		t.Fatalf("%q: %v", sentence, err)
	}
	return l
}

func TestIDSurvivesChangesOfAmountOnly(t *testing.T) {
	same := [][2]string{
		{"200k tokens per minute", "5 tokens per 60 seconds, burst 9k, observe only, until 2030-01-01"},
		{"$5 each month on b* a", "$9 each month on a and b*, observe only"},
		{"5 requests in any 60 minutes", "6 requests in any hour"},
		{"5 at once", "6 requests at once, observe only"},
	}
	for _, c := range same {
		if a, b := must(t, c[0]).ID(), must(t, c[1]).ID(); a != b {
			t.Errorf("%q has ID %q, but %q has %q", c[0], a, c[1], b)
		}
	}
	differ := []string{
		"5 tokens per minute", "5 tokens per 2 minutes", "5 tokens in any minute", "5 input tokens per minute", "5 requests per minute", "$5 per minute",
		"5 tokens per request", "5 requests at once", "5 at once on a", "5 tokens in total", "5 tokens each hour", "5 tokens each month", "5 tokens per minute on a", "5 tokens per minute on A", "5 tokens per minute on a b",
	}
	seen := map[string]string{}
	for _, s := range differ {
		id := must(t, s).ID()
		if other, dup := seen[id]; dup {
			t.Errorf("%q and %q share the ID %q", s, other, id)
		}
		seen[id] = s
	}
}

func TestPlainWords(t *testing.T) {
	for sentence, want := range map[string]string{
		"200k tokens per minute, burst 600k": "at most 600k tokens at once, then 200k tokens per minute",
		"60 requests in any minute":          "at most 60 requests in any minute, wherever it begins",
		"$50 each month on gpt-5-pro* o3":    "at most $50 each month, starting anew on the 1st; counts only gpt-5-pro*, o3",
		"4k output tokens per request":       "at most 4k output tokens for any single request",
		"$100 in total, until 2027-01-01":    "at most $100 in total, never refilled; until 2027-01-01 begins",
		"1 request per 90 seconds":           "at most 1 request at once, then 1 request per 90 seconds",
		"$1 each week, observe only":         "at most $1 each week, starting anew on Monday; only observed, never refused",
		"2m uncached input tokens each hour": "at most 2m uncached input tokens each hour, starting anew on the hour",
		"2500 tokens in any 2 days":          "at most 2500 tokens in any 2 days, wherever it begins",
		"8 at once":                          "at most 8 requests running at the same time",
		"1 request at once on o3":            "at most 1 request running at the same time; counts only o3",
		"$0.50 each day":                     "at most $0.50 each day, starting anew at midnight",
		"$0.0005 each quarter":               "at most $0.0005 each quarter, starting anew with January, April, July and October",
	} {
		if got := must(t, sentence).Plain(); got != want {
			t.Errorf("%q in plain words:\n got %s\nwant %s", sentence, got, want)
		}
	}
}

func TestCapacityIsTheBurstWhereThereIsOne(t *testing.T) {
	if got := must(t, "200k tokens per minute, burst 600k").Capacity(); got != 600_000 {
		t.Errorf("with a burst of 600k: %d", got)
	}
	if got := must(t, "60 requests per minute, burst 10").Capacity(); got != 10 {
		t.Errorf("with a burst of 10: %d", got)
	}
	if got := must(t, "$2 each day").Capacity(); got != 2*usd {
		t.Errorf("without a burst: %d", got)
	}
}

func TestAppliesToAnyNameOfTheCall(t *testing.T) {
	l := must(t, "$10 each month on gpt-5-pro* o?")
	for _, names := range [][]string{{"gpt-5-pro"}, {"alias", "gpt-5-pro-2026"}, {"o3"}} {
		if !l.Applies(names...) {
			t.Errorf("does not apply to %v", names)
		}
	}
	for _, names := range [][]string{{"gpt-5"}, {"O3"}, {"o3-mini"}, {}} {
		if l.Applies(names...) {
			t.Errorf("applies to %v", names)
		}
	}
	if !must(t, "$10 each month").Applies("anything") {
		t.Error("a limit without models does not apply")
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"*", "anything/at:all", true},
		{"?", "", false},
		{"?", "é", true},
		{"??", "é", false},
		{"gpt-5*", "gpt-5", true},
		{"gpt-5*", "gpt-4", false},
		{"*-mini", "gpt-5-mini", true},
		{"*-mini", "gpt-5-mini-2", false},
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "a-c-b", false},
		{"**", "x", true},
		{"gpt-5", "GPT-5", false},
		{"[ab]", "a", false},
		{"[ab]", "[ab]", true},
	} {
		if got := limit.Glob(c.pattern, c.name); got != c.want {
			t.Errorf("Glob(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
}

func TestFormatAmount(t *testing.T) {
	for _, c := range []struct {
		unit limit.Unit
		n    int64
		want string
	}{
		{limit.Tokens, 200_000, "200k tokens"},
		{limit.Tokens, 1_500_000, "1.5m tokens"},
		{limit.Tokens, 24_754, "24754 tokens"},
		{limit.Tokens, 0, "0 tokens"},
		{limit.Tokens, -1_500_000, "-1.5m tokens"},
		{limit.Tokens, 100_000, "100k tokens"},
		{limit.Requests, 60, "60 requests"},
		{limit.Requests, 1, "1 request"},
		{limit.Dollars, 10 * usd, "$10"},
		{limit.Dollars, usd / 4, "$0.25"},
		{limit.Dollars, 12_500_000_000, "$12.50"},
		{limit.Dollars, 123_000, "$0.000123"},
	} {
		if got := limit.FormatAmount(c.unit, c.n); got != c.want {
			t.Errorf("FormatAmount(%v, %d) = %q, want %q", c.unit, c.n, got, c.want)
		}
	}
}

func TestParseCount(t *testing.T) {
	if n, err := limit.ParseCount("128_000"); n != 128_000 || err != nil {
		t.Errorf("128_000: %d, %v", n, err)
	}
	for _, s := range []string{"", "$5", "x", "0", "1.5", "-1"} {
		if n, err := limit.ParseCount(s); err == nil {
			t.Errorf("%q is read as %d", s, n)
		}
	}
}

func TestPatternsOverlapWhereOneNameMatchesBoth(t *testing.T) {
	for pair, want := range map[string]bool{
		"gpt-4o gpt-4o": true, "gpt-4o gpt-5": false, "gpt-* gpt-4o": true, "gpt-* *-mini": true, "gpt-* o?-*": false,
		"* x": true, "* *": true, "a*c *b*": true, "a*c b*": false, "a? ab": true, "a? a": false, "a? a*": true, "?? *a": true,
		"*a*b* *b*a*": true, "a*? a": false, "**a a": true, "gpt-?o gpt-4*": true, "gpt-?o gpt-4*x": false, "ä? ?b": true,
	} {
		a, b, _ := strings.Cut(pair, " ")
		if limit.Overlap(a, b) != want || limit.Overlap(b, a) != want {
			t.Errorf("%s and %s: want %v, got %v and %v", a, b, want, limit.Overlap(a, b), limit.Overlap(b, a))
		}
	}
}

// Of two patterns over a small alphabet, every short name is tried.
func TestOverlapAgreesWithGlob(t *testing.T) {
	words := func(letters string, most int) []string {
		all, last := []string{""}, []string{""}
		for range most {
			var next []string
			for _, w := range last {
				for _, r := range letters {
					next = append(next, w+string(r))
				}
			}
			all, last = append(all, next...), next
		}
		return all
	}
	patterns, names := words("ab*?", 3), words("ab", 6)
	for _, p := range patterns {
		matched := make([]bool, len(names))
		for i, n := range names {
			matched[i] = limit.Glob(p, n)
		}
		for _, q := range patterns {
			want := false
			for i, n := range names {
				want = want || matched[i] && limit.Glob(q, n)
			}
			if got := limit.Overlap(p, q); got != want {
				t.Fatalf("%q and %q: got %v, want %v", p, q, got, want)
			}
		}
	}
}
