package cost_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/cost"
)

// terms draws a request of any kind, and of its usage the most that its own terms allow: what it is to make, the output it
// limits, the tools it lets the provider run. Input is added by whoever counts it.
func terms(t *rapid.T, m cost.Model) (r cost.Request, most cost.Usage) {
	figure := func(name string) int64 {
		return rapid.OneOf(rapid.Int64Range(0, 20), rapid.Int64Range(0, 1<<30)).Draw(t, name)
	}
	r.TokenIDs = figure("ids")
	switch rapid.SampledFrom([]string{"text", "pictures", "speech", "transcription"}).Draw(t, "kind") {
	case "pictures":
		r.Pictures = cost.Pictures{N: rapid.Int64Range(1, 10).Draw(t, "n"), Quality: cost.Quality(rapid.IntRange(0, 6).Draw(t, "quality"))}
		if rapid.Bool().Draw(t, "sized") {
			r.Pictures.Width, r.Pictures.Height = rapid.Int64Range(1, 4000).Draw(t, "width"), rapid.Int64Range(1, 4000).Draw(t, "height")
		}
		most.Images = r.Pictures.N
	case "speech":
		r.Speech = cost.Speech{Characters: 1 + figure("characters")}
		r.Speech.Bytes = r.Speech.Characters
		most.Characters = r.Speech.Characters
	case "transcription":
		r.Transcribes = true
		for range rapid.IntRange(1, 3).Draw(t, "recordings") {
			r.Audio = append(r.Audio, cost.Audio{Milliseconds: figure("ms")})
			most.Milliseconds += r.Audio[len(r.Audio)-1].Milliseconds
		}
	default:
		r.HasMaxOutput, r.MaxOutput, r.Choices = true, figure("limit"), rapid.Int64Range(0, 5).Draw(t, "choices")
		r.Echo = rapid.Bool().Draw(t, "echo")
		most.Output = r.MaxOutput * max(1, r.Choices)
		if rapid.Bool().Draw(t, "predicts") {
			r.Text = []cost.Text{{Part: cost.PartPrediction, S: "hello world"}} // two tokens
			most.Output += 2 * max(1, r.Choices)
		}
		if r.Echo {
			most.Output = r.MaxOutput*max(1, r.Choices) + (r.TokenIDs+int64(2*len(r.Text)))*max(1, r.Choices)
		}
	}
	most.Fees = toolsRun(t, &r, m)
	return r, most
}

// toolsRun lets the provider run tools, as often as the request allows, and says what they cost.
func toolsRun(t *rapid.T, r *cost.Request, m cost.Model) (fees cost.NanoUSD) {
	var often []string
	for _, name := range rapid.SliceOfN(rapid.SampledFrom([]string{"web_search", "web_search_preview", "file_search", "code_interpreter", "mcp"}), 0, 4).Draw(t, "tools") {
		tool := cost.Hosted{Type: name, Once: rapid.Bool().Draw(t, "once")}
		r.Hosted = append(r.Hosted, tool)
		fees += m.Fees[name].Session
		if tool.Once {
			fees += m.Fees[name].Call
		} else {
			often = append(often, name)
		}
	}
	r.MostHosted = rapid.Int64Range(0, 20).Draw(t, "most")
	runs := r.MostHosted
	if runs == 0 {
		runs = cost.DefaultHosted
	}
	if len(often) > 0 {
		for range runs {
			fees += m.Fees[rapid.SampledFrom(often).Draw(t, "run")].Call
		}
	}
	return fees
}

// Whatever a call uses within the terms of its request, it costs no more than what was reserved for it.
func TestNoUsageWithinTheTermsCostsMoreThanIsReserved(t *testing.T) {
	c, estimator := catalog(t), cost.NewEstimator()
	models := []string{"gpt-4o", "gpt-5.6", "gpt-image-1", "gpt-image-2", "dall-e-2", "dall-e-3", "tts-1", "gpt-4o-mini-tts", "whisper-1", "gpt-4o-transcribe", "text-embedding-3-small", "omni-moderation-latest", "gpt-3.5-turbo-instruct"}
	rapid.Check(t, func(t *rapid.T) {
		m := c.Model(rapid.SampledFrom(models).Draw(t, "model"))
		m.Price.Asked = rapid.SampledFrom([]cost.Tier{cost.Unstated, cost.Standard, cost.Flex, cost.Priority}).Draw(t, "asked")
		r, u := terms(t, m)
		est := estimator.Estimate(r, m)
		if u.Output > est.MaxOutput+est.Beyond {
			t.Fatalf("%d tokens of output are within the terms, %+v", u.Output, est)
		}
		part := func(of int64, name string) int64 { return rapid.Int64Range(0, of).Draw(t, name) }
		u.Input = part(est.Input, "input")
		u.CachedInput, u.CacheWrite, u.AudioInput, u.ImageInput = part(u.Input, "cached"), part(u.Input, "written"), part(u.Input, "audio"), part(u.Input, "image")
		u.Output = max(u.Output, est.MaxOutput)
		u.Reasoning, u.AudioOutput, u.ImageOutput = part(u.Output, "reasoning"), part(u.Output, "speech"), part(u.Output, "pictures")
		u.Tier = rapid.SampledFrom([]cost.Tier{cost.Unstated, cost.Standard, m.Price.Asked}).Draw(t, "tier")
		price := m.Price.ForPictures(r.Pictures)
		if reserved, charged := price.Ceiling(est.Bound()), price.Cost(u); charged > reserved {
			t.Fatalf("%s: %v is reserved, and %v charged for %+v", m.Name, reserved, charged, u)
		}
	})
}

// Sums of an estimate saturate, whatever is asked for.
func TestEstimatesOfMoreThanThereCanBe(t *testing.T) {
	const most = math.MaxInt64
	r := cost.Request{
		TokenIDs: most, Sealed: most, Echo: true, Choices: most, HasMaxOutput: true, MaxOutput: most,
		Pictures: cost.Pictures{N: most, Width: most, Height: most, Partial: most}, Speech: cost.Speech{Characters: most, Bytes: most, Slowed: most},
		Transcribes: true, Audio: []cost.Audio{{Milliseconds: most}, {Milliseconds: most}, {Milliseconds: -most}},
		Hosted: []cost.Hosted{{Type: "web_search"}, {Type: "code_interpreter", Once: true}}, MostHosted: most,
	}
	for _, name := range []string{"gpt-4o", "gpt-image-1", "dall-e-3", "whisper-1"} {
		m := catalog(t).Model(name)
		est := cost.NewEstimator().Estimate(r, m)
		b := est.Bound()
		for what, n := range map[string]int64{
			"input": b.Input, "output": b.Output, "pictures": b.Images, "milliseconds": b.Milliseconds, "characters": b.Characters, "fees": int64(b.Fees), "beyond": est.Beyond,
			"reserved": int64(m.Price.ForPictures(r.Pictures).Ceiling(b)),
		} {
			if n < 0 {
				t.Errorf("%s: %s %d", name, what, n)
			}
		}
	}
}
