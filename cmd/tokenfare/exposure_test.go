package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

func TestExposure(t *testing.T) {
	const usd = 1_000_000_000
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	cheap := offer{name: "cheap", names: []string{"cheap"}, upstream: "u", facts: cost.Model{Priced: true, Price: cost.Price{Schedule: cost.Schedule{Rates: cost.Rates{cost.Input: usd, cost.CacheWrite: 2 * usd, cost.Output: 4 * usd}}}}}
	dear := offer{name: "dear", names: []string{"dear"}, upstream: "u", facts: cost.Model{Priced: true, Price: cost.Price{Schedule: cost.Schedule{Rates: cost.Rates{cost.Input: 10 * usd, cost.Output: 100 * usd}}}}}
	free := offer{name: "unknown", names: []string{"unknown"}, upstream: "u"}
	for name, c := range map[string]struct {
		limits, upstream []string
		usable           []offer
		want             exposure
	}{
		"no limits":                  {nil, nil, []offer{cheap}, exposure{model: "cheap", unlimited: true}},
		"no model":                   {nil, nil, nil, exposure{}},
		"only requests":              {[]string{"60 requests per minute"}, nil, []offer{cheap}, exposure{model: "cheap", unlimited: true}},
		"dollars each day and month": {[]string{"$5 each day", "$50 each month"}, nil, []offer{cheap}, exposure{model: "cheap", day: 5 * usd, month: 50 * usd}},
		"dollars each hour":          {[]string{"$1 each hour"}, nil, []offer{cheap}, exposure{model: "cheap", day: 24 * usd, month: 744 * usd}},
		"dollars each week":          {[]string{"$1 each week"}, nil, []offer{cheap}, exposure{model: "cheap", day: usd, month: 6 * usd}},
		"dollars in any 10 days":     {[]string{"$1 in any 10 days"}, nil, []offer{cheap}, exposure{model: "cheap", day: usd, month: 4 * usd}},
		"dollars in total":           {[]string{"$7 in total"}, nil, []offer{dear}, exposure{model: "dear", day: 7 * usd, month: 7 * usd}},
		"a bucket starts full":       {[]string{"$1 per hour, burst $10"}, nil, []offer{cheap}, exposure{model: "cheap", day: 34 * usd, month: 754 * usd}},
		"tokens at the dearest kind": {[]string{"1m tokens each month"}, nil, []offer{cheap}, exposure{model: "cheap", day: 4 * usd, month: 4 * usd}},
		"input and output":           {[]string{"1m input tokens each month", "2m output tokens each month"}, nil, []offer{cheap}, exposure{model: "cheap", day: 10 * usd, month: 10 * usd}},
		"input alone":                {[]string{"1m input tokens each month"}, nil, []offer{cheap}, exposure{model: "cheap", unlimited: true}},
		"uncached input is no bound": {[]string{"1m uncached input tokens each month", "1m output tokens each month"}, nil, []offer{cheap}, exposure{model: "cheap", unlimited: true}},
		"the dearest model":          {[]string{"1m tokens each month"}, nil, []offer{cheap, dear}, exposure{model: "dear", day: 100 * usd, month: 100 * usd}},
		"a cap on the dear one":      {[]string{"1m tokens each month", "$3 each month on dear"}, nil, []offer{cheap, dear}, exposure{model: "cheap", day: 4 * usd, month: 4 * usd}},
		"a limit on another model":   {[]string{"$3 each month on dear"}, nil, []offer{cheap, dear}, exposure{model: "cheap", unlimited: true}},
		"observing bounds nothing":   {[]string{"$3 each month, observe only"}, nil, []offer{cheap}, exposure{model: "cheap", unlimited: true}},
		"an ended limit, too":        {[]string{"$3 each month, until 2026-12-01"}, nil, []offer{cheap}, exposure{model: "cheap", unlimited: true}},
		"requests of capped price":   {[]string{"10 requests each day", "$0.50 per request"}, nil, []offer{cheap}, exposure{model: "cheap", day: 5 * usd, month: 155 * usd}},
		"requests of capped tokens":  {[]string{"10 requests each day", "1m tokens per request"}, nil, []offer{cheap}, exposure{model: "cheap", day: 40 * usd, month: 1240 * usd}},
		"calls at once bound none":   {[]string{"8 at once", "$0.50 per request"}, nil, []offer{cheap}, exposure{model: "cheap", unlimited: true}},
		"the upstream's limit":       {nil, []string{"$9 each day"}, []offer{cheap}, exposure{model: "cheap", day: 9 * usd, month: 279 * usd}},
		"no price, tokens bounded":   {[]string{"1m tokens each month"}, nil, []offer{free}, exposure{model: "unknown", unpriced: true}},
		"no price under dollars":     {[]string{"$1 each month"}, nil, []offer{free}, exposure{refused: "unknown"}},
		"no price, dollars per call": {[]string{"1m tokens each month", "$1 per request"}, nil, []offer{free}, exposure{refused: "unknown"}},
		"no price, an ended limit":   {[]string{"1m tokens each month", "$1 each day, until 2026-12-01"}, nil, []offer{free}, exposure{model: "unknown", unpriced: true}},
		"no price, dollars upstream": {nil, []string{"$1 each month"}, []offer{free}, exposure{refused: "unknown"}},
		"only the priced one passes": {[]string{"$1 each month"}, nil, []offer{cheap, free}, exposure{model: "cheap", day: usd, month: usd}},
		"no price beside a cheap":    {[]string{"1m tokens each month"}, nil, []offer{cheap, free}, exposure{model: "unknown", unpriced: true}},
	} {
		t.Run(name, func(t *testing.T) {
			parse := func(sentences []string) (out []limit.Limit) {
				for _, s := range sentences {
					l, err := limit.Parse(s, nil)
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, l)
				}
				return out
			}
			if got := exposed(parse(c.limits), map[string][]limit.Limit{"u": parse(c.upstream)}, c.usable, now); !same(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestALimitHoldsUnderEveryNameOfAModel: what the proxy would count against a limit, check counts, too.
func TestALimitHoldsUnderEveryNameOfAModel(t *testing.T) {
	c := parseTest(t, `
upstreams: { local: { url: "http://localhost:1" } }
models:
  fast: { model: some-deployment, counts_as: openai/gpt-4o }
keys:
  asked:   { hash: "`+strings.ReplaceAll(testHash, "ab", "01")+`", limits: ["$1 each day on fast"] }
  served:  { hash: "`+strings.ReplaceAll(testHash, "ab", "02")+`", limits: ["$1 each day on some-*"] }
  counted: { hash: "`+strings.ReplaceAll(testHash, "ab", "03")+`", limits: ["$1 each day on openai/*"] }
  listed:  { hash: "`+strings.ReplaceAll(testHash, "ab", "04")+`", limits: ["$1 each day on gpt-4o*"] }
`)
	offers := c.offers(catalogTest(t))
	for _, k := range c.Keys {
		e := exposed(k.Limits, nil, k.usable(offers), time.Now())
		if e.model != "fast" || e.unlimited || e.day != 1_000_000_000 {
			t.Errorf("%s: %q does not hold: %+v", k.Name, k.Limits[0].Text, e)
		}
	}
	for _, o := range offers {
		if want := catalogTest(t).Model("gpt-4o"); !cmp.Equal(o.facts.Price, want.Price) || o.facts.Context != want.Context {
			t.Errorf("%s is taken for %+v", o.name, o.facts)
		}
	}
}

func TestWhatOnlyAKeyNamesIsCounted(t *testing.T) {
	c := parseTest(t, `
upstreams: { local: { url: "http://localhost:1" } }
models: { "*": { price: { input: $1, output: $2 } } }
keys:
  one:  { hash: "`+strings.ReplaceAll(testHash, "ab", "01")+`", limits: 1m tokens each day, models: our-own-model }
  many: { hash: "`+strings.ReplaceAll(testHash, "ab", "02")+`", limits: 1m tokens each day, models: "team-*" }
`)
	offers := c.offers(catalogTest(t))
	for i, name := range []string{"our-own-model", "team-*"} {
		if e := exposed(c.Keys[i].Limits, nil, c.Keys[i].usable(offers), time.Now()); e.model != name || e.day != 2_000_000_000 {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestExposureNeverOverflows(t *testing.T) {
	o := offer{name: "m", names: []string{"m"}, facts: cost.Model{Priced: true, Price: cost.Price{Schedule: cost.Schedule{Rates: cost.Rates{cost.Input: math.MaxInt64, cost.Output: math.MaxInt64}}}}}
	for _, s := range []string{"1000000b tokens per second", "$1000000000 per second", "1000000b tokens in any second", "1000000b tokens each hour"} {
		l, err := limit.Parse(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.most([]limit.Limit{l}, oneMonth); got <= 0 {
			t.Errorf("%s: %d", s, got)
		}
	}
}

// same compares all but the price, which only decides between models that are alike.
func same(a, b exposure) bool {
	a.dearest, b.dearest = 0, 0
	return a == b
}
