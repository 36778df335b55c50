package cost_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/cost"
)

// anyUsage draws what a hostile upstream may report: figures of any size and sign.
func anyUsage(t *rapid.T) cost.Usage {
	figure := rapid.OneOf(rapid.Int64Range(-3, 20), rapid.Int64Range(0, 1<<40), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, math.MaxInt64 - 1}))
	next := func(name string) int64 { return figure.Draw(t, name) }
	return cost.Usage{
		Input: next("input"), CachedInput: next("cached"), CacheWrite: next("written"), AudioInput: next("audio"), ImageInput: next("image"),
		CachedAudio: next("cached audio"), CachedImage: next("cached image"), Output: next("output"), Reasoning: next("reasoning"),
		AudioOutput: next("audio output"), ImageOutput: next("image output"),
		Images: next("images"), Milliseconds: next("ms"), Characters: next("characters"),
		Tier: cost.Tier(rapid.IntRange(0, int(cost.OtherTier)).Draw(t, "tier")),
	}
}

func TestPartsSumToTheWholeWhateverIsReported(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := anyUsage(t)
		n, q := u.Normal(), u.Quantities()
		var input, output int64
		for i, quantity := range q {
			if quantity < 0 {
				t.Fatalf("%+v: %d of %s", u, quantity, cost.Item(i))
			}
			switch item := cost.Item(i); {
			case item.IsInput():
				input += quantity
			case item.IsOutput():
				output += quantity
			}
		}
		if input != max(0, u.Input) || output != max(0, u.Output) || n.Input != input || n.Output != output {
			t.Fatalf("%+v: items sum to %d and %d, normal is %+v", u, input, output, n)
		}
		if n.Normal() != n {
			t.Fatalf("%+v: normal is %+v, and the normal of that is %+v", u, n, n.Normal())
		}
		if n.Quantities() != q {
			t.Fatalf("%+v: %v, of its normal form %v", u, q, n.Quantities())
		}
		if n.CachedInput+n.CacheWrite > n.Input || n.AudioInput+n.ImageInput > n.Input || n.Reasoning+n.AudioOutput+n.ImageOutput > n.Output {
			t.Fatalf("%+v: parts are more than their whole in %+v", u, n)
		}
	})
}

// A report that can be true is left as it is.
func TestAPossibleReportIsNotChanged(t *testing.T) {
	for _, u := range []cost.Usage{
		{},
		{Input: 10, CachedInput: 4, CacheWrite: 6, Output: 5, Reasoning: 5, Tier: cost.Flex},
		{Input: 10, AudioInput: 6, ImageInput: 4, CachedInput: 10, CachedAudio: 6, CachedImage: 4, Output: 3, AudioOutput: 1, ImageOutput: 1, Reasoning: 1},
		{Images: 2, Milliseconds: 1500, Characters: 70},
	} {
		if n := u.Normal(); n != u {
			t.Errorf("%+v became %+v", u, n)
		}
	}
}

func TestWhatIsCachedIsTextFirst(t *testing.T) {
	q := cost.Usage{Input: 100, AudioInput: 30, ImageInput: 20, CachedInput: 80}.Quantities()
	want := cost.Quantities{cost.CachedInput: 50, cost.CachedImageInput: 20, cost.CachedAudioInput: 10, cost.AudioInput: 20}
	if q != want {
		t.Errorf("%v, want %v", q, want)
	}
	q = cost.Usage{Input: 100, AudioInput: 30, CachedInput: 80, CachedAudio: 25}.Quantities()
	want = cost.Quantities{cost.CachedInput: 55, cost.Input: 15, cost.CachedAudioInput: 25, cost.AudioInput: 5}
	if q != want {
		t.Errorf("%v, want %v", q, want)
	}
}

func TestTheLargerOfTwoReports(t *testing.T) {
	a := cost.Usage{Input: 5, Output: 9, Tier: cost.Standard}
	b := cost.Usage{Input: 7, Output: 1, Reasoning: 1, Tier: cost.Flex}
	if got, want := a.Larger(b), (cost.Usage{Input: 7, Output: 9, Reasoning: 1, Tier: cost.Standard}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestTiers(t *testing.T) {
	for word, want := range map[string]cost.Tier{
		"": cost.Unstated, "auto": cost.Unstated, "default": cost.Standard, "scale": cost.Standard, "flex": cost.Flex,
		"priority": cost.Priority, "batch": cost.Batch, "ultrafast": cost.OtherTier, "Flex": cost.OtherTier,
	} {
		if got := cost.ParseTier(word); got != want {
			t.Errorf("%q is %v, want %v", word, got, want)
		}
	}
	for tier := cost.Batch; tier < cost.OtherTier; tier++ {
		if got := cost.ParseTier(tier.String()); got != tier {
			t.Errorf("%v is read as %v", tier, got)
		}
	}
}

func TestItemsHaveNames(t *testing.T) {
	for i := range cost.Items {
		if got, ok := cost.ItemNamed(cost.Item(i).String()); !ok || got != cost.Item(i) {
			t.Errorf("item %d is named %s, which is %v, %v", i, cost.Item(i), got, ok)
		}
	}
	if _, ok := cost.ItemNamed("unknown"); ok {
		t.Error("there is an item unknown")
	}
}
