package cost_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost"
)

func TestRatios(t *testing.T) {
	for text, want := range map[string]cost.Ratio{
		"1": 1000, "1.2": 1200, "0.1": 100, "10": 10_000, "1.005": 1005, "01.50": 1500,
		"": 0, ".5": 0, "1.": 0, "0": 0, "0.099": 0, "10.001": 0, "1.0000": 0, "-1": 0, "+1": 0, "1e1": 0, "1,2": 0, "1.2x": 0, "120%": 0, "99999999999999999999": 0, "1.-1": 0,
	} {
		got, err := cost.ParseRatio(text)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
		if want > 0 {
			if again, err := cost.ParseRatio(got.String()); again != got || err != nil {
				t.Errorf("%q is printed as %q", text, got)
			}
		}
	}
	for _, c := range []struct {
		ratio   cost.Ratio
		n, want int64
	}{
		{0, 7, 7},
		{1000, 7, 7},
		{1200, 5, 6},
		{1200, 6, 8},
		{1001, 1, 2},
		{500, 3, 2},
		{1200, 0, 0},
		{1200, -3, -3},
		{1200, math.MaxInt64, 1 << 61},
		{math.MaxInt64, 3, 30},
	} {
		if got := c.ratio.Of(c.n); got != c.want {
			t.Errorf("%v of %d: %d, want %d", c.ratio, c.n, got, c.want)
		}
	}
}

// Only what was counted with a vocabulary is multiplied, each part by itself.
func TestEstimateOfAnotherVocabulary(t *testing.T) {
	m := cost.Model{Encoding: "o200k_base", Ratio: 1500, ImageTokens: 100}
	hello := []cost.Text{{Part: cost.PartMessages, S: "user"}, {Part: cost.PartMessages, S: "hello world"}, {Part: cost.PartOther, S: "hello"}}
	got := cost.NewEstimator().Estimate(cost.Request{
		Messages: 1, Text: hello, Tools: []string{`{"name":"now"}`}, TokenIDs: 10, Images: make([]cost.Image, 1), FileTokens: 7, HasMaxOutput: true,
	}, m)
	want := cost.Estimate{
		Input: 5 + 21 + 2 + 10 + 15 + 100 + 7, Basis: cost.Approximate,
		ByPart: parts(cost.PartMessages, 5, cost.PartTools, 21, cost.PartOther, 2+10, cost.PartOverhead, 3+3+9, cost.PartImages, 100, cost.PartFiles, 7),
	}
	want.BasisOf = [cost.Parts]cost.Basis{
		cost.PartMessages: cost.Approximate, cost.PartTools: cost.Approximate, cost.PartOther: cost.Approximate,
		cost.PartOverhead: cost.Formula, cost.PartImages: cost.Approximate, cost.PartFiles: cost.Approximate,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if n := cost.NewEstimator().Count(m, "hello world"); n != 3 {
		t.Errorf("a text of 2 tokens counts %d, want 3", n)
	}
}
