package limit_test

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/proxy/limit"
)

func mustExtra(t testing.TB, sentence string) limit.Extra {
	t.Helper()
	e, err := limit.ParseExtra(sentence, nil)
	if err != nil {
		t.Fatalf("%q: %v", sentence, err)
	}
	return e
}

func TestAnExtraFindsItsLimit(t *testing.T) {
	team := []string{
		"200k tokens per minute", "60 requests in any minute", "$0.10 per request", "8 at once", // none of these can be raised
		"$10 each day", "$50 each month", "5m tokens each month", "$10 each month on gpt-5-pro* o3", "$100 in total on gpt-5-pro*", "100 requests in total, observe only",
	}
	for _, c := range []struct{ extra, raises, msg, fix string }{
		{"+1m tokens until 2027-01-31", "5m tokens each month", "", ""},
		{"+$20 each day until 2027-01-31", "$10 each day", "", ""},
		{"+$20 each month until 2027-01-31", "$50 each month", "", ""},
		{"+$20 until 2027-01-31 on o3 gpt-5-pro* o3", "$10 each month on gpt-5-pro* o3", "", ""},
		{"+$20 until 2027-01-31 on gpt-5-pro*", "$100 in total on gpt-5-pro*", "", ""},
		{"+9 requests in total until 2027-01-31", "100 requests in total, observe only", "", ""},
		{
			"+$20 until 2027-01-31", "", `it could raise "$10 each day" or "$50 each month"`,
			"say which: write `+$20 each day until 2027-01-31` or `+$20 each month until 2027-01-31`",
		},
		{
			"+1m tokens each day until 2027-01-31", "", "there is no limit of tokens each day that it could raise",
			"write `+1m tokens each month until 2027-01-31`",
		},
		{
			"+1m tokens until 2027-01-31 on gpt-5*", "", "there is no limit of tokens with `each` or `in total` on gpt-5* that it could raise",
			"write `+1m tokens each month until 2027-01-31`",
		},
		{
			"+1m input tokens until 2027-01-31", "", "there is no limit of input tokens with `each` or `in total` that it could raise",
			"give the key or its plan such a limit; that of a group or upstream is changed where it stands",
		},
		{
			"+$999999999 each day until 2027-01-31", "", `with this, "$10 each day" is raised to more than a limit can be`, "write a smaller amount",
		},
	} {
		limits := make([]limit.Limit, len(team))
		for i, s := range team {
			limits[i] = must(t, s)
		}
		of, wrong := limit.Assign(limits, []limit.Extra{mustExtra(t, c.extra)})
		if c.raises == "" {
			e, ok := errors.AsType[*limit.Error](wrong[0])
			if !ok || e.Msg != c.msg || e.Fix != c.fix {
				t.Errorf("%s: error %v, want %s: %s", c.extra, wrong[0], c.msg, c.fix)
			}
			continue
		}
		at := slices.IndexFunc(of, func(of []limit.Extra) bool { return len(of) > 0 })
		if wrong[0] != nil || at < 0 || team[at] != c.raises {
			t.Errorf("%s: %v %v, want it to raise %s", c.extra, of, wrong[0], c.raises)
		}
	}
}

func TestWhatAFixProposesRaisesSomething(t *testing.T) {
	limits := []limit.Limit{must(t, "$10 each day"), must(t, "$50 each month on b a"), must(t, "$9 in total")}
	for _, s := range []string{"+$20 until 2027-01-31", "+$20 each week until 2027-01-31", "+$20 until 2027-01-31 on c"} {
		_, wrong := limit.Assign(limits, []limit.Extra{mustExtra(t, s)})
		e, _ := errors.AsType[*limit.Error](wrong[0])
		if e == nil {
			t.Fatalf("%s was assigned", s)
		}
		offers := strings.Split(e.Fix, "`")
		if len(offers) < 5 {
			t.Errorf("%s: the fix is %q", s, e.Fix)
		}
		for i := 1; i < len(offers); i += 2 {
			if _, wrong := limit.Assign(limits, []limit.Extra{mustExtra(t, offers[i])}); wrong[0] != nil {
				t.Errorf("%s: proposes %q: %v", s, offers[i], wrong[0])
			}
		}
	}
}

func TestExtrasAddUpAndEndOneByOne(t *testing.T) {
	l := must(t, "$50 each month")
	extra := []limit.Extra{mustExtra(t, "+$20 until 2027-01-31"), mustExtra(t, "+$5 until 2027-02-15"), mustExtra(t, "+$1 until 2027-01-31")}
	for day, want := range map[string]struct {
		dollars int64
		words   string
	}{
		"2027-01-30": {76, "raised by $20 until 2027-01-31 and by $5 until 2027-02-15 and by $1 until 2027-01-31"},
		"2027-01-31": {55, "raised by $5 until 2027-02-15"},
		"2027-02-15": {50, ""},
	} {
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		raised, holding := l.Raised(extra, at)
		if raised.Amount != want.dollars*usd || limit.RaisedBy(holding) != want.words {
			t.Errorf("%s: %d %q, want $%d %q", day, raised.Amount, limit.RaisedBy(holding), want.dollars, want.words)
		}
		if raised.ID() != l.ID() || raised.Text != l.Text {
			t.Errorf("%s: the counter is now %q, the sentence %q", day, raised.ID(), raised.Text)
		}
	}
}

// TestAssignAgreesWithTheRule holds it against what the rule says, word by word, for any limits and extras.
func TestAssignAgreesWithTheRule(t *testing.T) {
	when := []string{"each day", "each month", "in total", "per minute", "in any hour"}
	units := []string{"$%d", "%d tokens", "%d requests"}
	scopes := []string{"", " on a", " on a b"}
	rapid.Check(t, func(t *rapid.T) {
		pick := func(from []string, label string) string { return rapid.SampledFrom(from).Draw(t, label) }
		var limits []limit.Limit
		seen := map[string]bool{}
		for range rapid.IntRange(0, 6).Draw(t, "limits") {
			l, err := limit.Parse(fmt.Sprintf(pick(units, "unit"), rapid.IntRange(1, 1e9).Draw(t, "amount"))+" "+pick(when, "when")+pick(scopes, "scope"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !seen[l.ID()] { // a key has no two limits of one counter
				seen[l.ID()] = true
				limits = append(limits, l)
			}
		}
		var extra []limit.Extra
		var says []string // as it is in IDs
		for range rapid.IntRange(0, 6).Draw(t, "extras") {
			said, scope := pick([]string{"", " each day", " each month", " in total"}, "said"), pick(scopes, "scope")
			e, err := limit.ParseExtra("+"+fmt.Sprintf(pick(units, "unit"), rapid.IntRange(1, 1e9).Draw(t, "amount"))+said+" until 2027-01-31"+scope, nil)
			if err != nil {
				t.Fatal(err)
			}
			extra, says = append(extra, e), append(says, said)
		}
		most := map[bool]*big.Int{true: big.NewInt(1e18), false: big.NewInt(1e15)} // of dollars in nano-dollars, of the others
		sums := make([]*big.Int, len(limits))
		for i, l := range limits {
			sums[i] = big.NewInt(l.Amount)
		}
		want := make([][]limit.Extra, len(limits))
		of, wrong := limit.Assign(limits, extra)
		for j, e := range extra {
			var found []int
			for i, l := range limits {
				for _, said := range []string{" each day", " each month", " in total"} {
					id := e.Unit.String() + said
					if len(e.Models) > 0 {
						id += " on " + strings.Join(e.Models, " ")
					}
					if l.ID() == id && (says[j] == "" || says[j] == said) {
						found = append(found, i)
					}
				}
			}
			ok := len(found) == 1
			if ok {
				sum := new(big.Int).Add(sums[found[0]], big.NewInt(e.Amount))
				if ok = sum.Cmp(most[e.Unit == limit.Dollars]) <= 0; ok {
					sums[found[0]] = sum
					want[found[0]] = append(want[found[0]], e)
				}
			}
			if (wrong[j] == nil) != ok {
				t.Fatalf("%s fits limits %v of %v: error %v", e.Text, found, limits, wrong[j])
			}
		}
		if diff := cmp.Diff(want, of); diff != "" {
			t.Fatalf("assigned (-want +got):\n%s", diff)
		}
		for i, l := range limits {
			if raised, _ := l.Raised(of[i], time.Time{}); big.NewInt(raised.Amount).Cmp(sums[i]) != 0 {
				t.Fatalf("%s is raised to %d, want %v", l.Text, raised.Amount, sums[i])
			}
		}
	})
}
