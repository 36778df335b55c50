package reconcile_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/reconcile"
)

// costOf reads an amount as it stands in a table.
func costOf(t interface{ Fatal(...any) }, text string) (cost.NanoUSD, error) {
	r := reconcile.NewReader()
	if err := r.File("costs", strings.NewReader("day,model,cost\n2026-08-01,m,"+text+"\n"), reconcile.CSV); err != nil {
		return 0, err
	}
	e, err := r.Export()
	if err != nil || len(e.Days) != 1 {
		t.Fatal(text, e, err)
	}
	return e.Days[0].Cost, nil
}

func TestAmountsAreReadToTheNanoDollar(t *testing.T) {
	for text, want := range map[string]cost.NanoUSD{
		"0":                                   0,
		"0.00000000000000000":                 0,
		"0E-6176":                             0,
		"-0.0":                                0,
		"12":                                  12_000_000_000,
		"$1.50":                               1_500_000_000,
		"-1.5":                                -1_500_000_000,
		"1.5e-3":                              1_500_000,
		"15E2":                                1_500_000_000_000,
		"0.1e+1":                              1_000_000_000,
		"1e-9":                                1,
		"1e-10":                               0,
		"0.0000000005":                        1,
		"0.00000000049999":                    0,
		"0.9999999995":                        1_000_000_000,
		"0.020000000000000001":                20_000_000,
		"007.10":                              7_100_000_000,
		"9223372036.854775807":                math.MaxInt64,
		"0." + strings.Repeat("0", 300) + "1": 0,
	} {
		if got, err := costOf(t, text); err != nil || got != want {
			t.Errorf("%s is %d, %v; want %d", text, got, err, want)
		}
	}
}

// Whatever a number looks like, it is read as big.Rat reads it, to the nearest nano-dollar.
func TestAmountsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := fmt.Sprintf("%s%d", rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign"), rapid.Int64Range(0, 9_000_000).Draw(t, "whole"))
		if fraction := rapid.StringMatching(`[0-9]{0,40}`).Draw(t, "fraction"); fraction != "" {
			text += "." + fraction
		}
		if rapid.Bool().Draw(t, "scientific") {
			text += fmt.Sprintf("e%d", rapid.IntRange(-40, 3).Draw(t, "exponent"))
		}
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		got, err := costOf(t, text)
		apart := new(big.Rat).Sub(exact, big.NewRat(int64(got), 1_000_000_000))
		if half := big.NewRat(1, 2_000_000_000); err != nil || apart.Abs(apart).Cmp(half) > 0 {
			t.Fatalf("%s is %v, %v", text, got, err)
		}
	})
}

func TestTolerance(t *testing.T) {
	standard := reconcile.DefaultTolerance()
	if got, want := standard.String(), "0.5%, 1000 tokens, 1 request, $0.01"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for text, want := range map[string]reconcile.Tolerance{
		"0.5%":                                standard,
		"1 %":                                 {Part: 10_000, Tokens: 1_000, Requests: 1, Cost: 10_000_000},
		"exact":                               {},
		"0%, 0 tokens, 0 requests, $0":        {},
		"0.0125%, 1 token, 20 requests, $1.5": {Part: 125, Tokens: 1, Requests: 20, Cost: 1_500_000_000},
		"100%,$9223372036.854775807":          {Part: 1_000_000, Tokens: 1_000, Requests: 1, Cost: math.MaxInt64},
		"  2%  ,9223372036854775807 tokens ":  {Part: 20_000, Tokens: math.MaxInt64, Requests: 1, Cost: 10_000_000},
		"0.5%, 1000 tokens, 1 request, $0.01, $0.1": {Part: 5_000, Tokens: 1_000, Requests: 1, Cost: 100_000_000},
	} {
		got, err := reconcile.ParseTolerance(text)
		if err != nil || got != want {
			t.Errorf("%q is %+v, %v; want %+v", text, got, err, want)
			continue
		}
		if again, err := reconcile.ParseTolerance(got.String()); err != nil || again != got {
			t.Errorf("%q prints %s, which is %+v, %v", text, got, again, err)
		}
	}
	for text, says := range map[string]string{
		"":           "has no unit: write 0.5%, 1000 tokens, 2 requests or $0.10",
		"0.5":        "has no unit",
		"5 apples":   "no unit that is known",
		"101%":       "at most 100%",
		"-1%":        "not a part",
		"0.00001%":   "four digits",
		"x%":         "not a number",
		"1.5 tokens": "not a whole number",
		"$x":         "not a number",
	} {
		if got, err := reconcile.ParseTolerance(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is %+v, %v; want an error that says %s", text, got, err, says)
		}
	}
}

// Two amounts are within the tolerance exactly if a slow calculation with fractions says so.
func TestToleranceIsExact(t *testing.T) {
	tokens := rapid.OneOf(rapid.Int64Range(0, 5_000), rapid.Int64Range(0, math.MaxInt64))
	rapid.Check(t, func(t *rapid.T) {
		tolerance := reconcile.Tolerance{Part: rapid.Int64Range(0, 1_000_000).Draw(t, "part"), Tokens: tokens.Draw(t, "tokens")}
		here := tokens.Draw(t, "here")
		there := rapid.OneOf(tokens, rapid.Just(here), rapid.Int64Range(max(0, here-3_000), here)).Draw(t, "there")
		export := reconcile.Export{Usage: []reconcile.Date{20_000}, Days: []reconcile.Day{{Date: 20_000, Model: "m", Known: reconcile.Input, Input: there}}}
		ledger := []reconcile.Day{{Date: 20_000, Model: "m", Known: reconcile.Input, Input: here}}
		report := reconcile.Compare(ledger, export, reconcile.Options{Tolerance: tolerance})

		apart := new(big.Int).Abs(new(big.Int).Sub(big.NewInt(here), big.NewInt(there)))
		part := new(big.Rat).Mul(big.NewRat(tolerance.Part, 1_000_000), new(big.Rat).SetInt64(max(here, there)))
		agree := apart.Cmp(big.NewInt(tolerance.Tokens)) <= 0 || new(big.Rat).SetInt(apart).Cmp(part) <= 0
		if report.Drift() == agree {
			t.Fatalf("%d and %d with %+v: drift %v", here, there, tolerance, report.Drift())
		}
		if report.Drift() && (report.Lines[0].Cause == reconcile.Agrees || report.Lines[0].Why == "") {
			t.Fatalf("a drift without a cause: %+v", report.Lines[0])
		}
	})
}
