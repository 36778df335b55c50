package cost_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
)

// A bill worked out by hand. sum has a term for each item, count x price: the price is dollars per million units, or for
// one where a term ends in "each"; "all x 1.1" at the end is what a region adds. total is what the sum comes to, with each
// term rounded up to a billionth of a dollar.
type bill struct {
	model, region string
	usage         cost.Usage
	sum, total    string
}

var bills = []bill{
	// Plain text, each family.
	{"gpt-4o", "", cost.Usage{Input: 1000, Output: 500}, "1000 x 2.50 + 500 x 10", "$0.0075"},
	{"gpt-4o", "", cost.Usage{Input: 1, Output: 1}, "1 x 2.50 + 1 x 10", "$0.0000125"},
	{"gpt-4o", "", cost.Usage{}, "0 x 2.50", "$0.00"},
	{"gpt-4o-2024-05-13", "", cost.Usage{Input: 1000, Output: 1000}, "1000 x 5 + 1000 x 15", "$0.02"},
	{"gpt-4o-mini", "", cost.Usage{Input: 10_000, Output: 2000}, "10000 x 0.15 + 2000 x 0.60", "$0.0027"},
	{"gpt-4", "", cost.Usage{Input: 8000, Output: 192}, "8000 x 30 + 192 x 60", "$0.25152"},
	{"gpt-4-turbo-2024-04-09", "", cost.Usage{Input: 1000, Output: 100}, "1000 x 10 + 100 x 30", "$0.013"},
	{"gpt-3.5-turbo", "", cost.Usage{Input: 4000, Output: 1000}, "4000 x 0.50 + 1000 x 1.50", "$0.0035"},
	{"gpt-4.1-nano", "", cost.Usage{Input: 1, Output: 1}, "1 x 0.10 + 1 x 0.40", "$0.0000005"},
	{"davinci-002", "", cost.Usage{Input: 1000, Output: 1000}, "1000 x 2 + 1000 x 2", "$0.004"},
	{"o1-pro", "", cost.Usage{Input: 200_000, Output: 100_000}, "200000 x 150 + 100000 x 600", "$90.00"},
	{"ft:gpt-4o-mini-2024-07-18:acme::abc", "", cost.Usage{Input: 1000, Output: 1000}, "1000 x 0.30 + 1000 x 1.20", "$0.0015"},

	// Reasoning is output.
	{"gpt-5-mini", "", cost.Usage{Input: 2000, Output: 3000, Reasoning: 2900}, "2000 x 0.25 + 100 x 2 + 2900 x 2", "$0.0065"},
	{"o4-mini", "", cost.Usage{Input: 2000, Output: 3000, Reasoning: 3000}, "2000 x 1.10 + 3000 x 4.40", "$0.0154"},

	// Cached input; without a price of its own it is plain.
	{"gpt-4o", "", cost.Usage{Input: 1024, CachedInput: 512}, "512 x 2.50 + 512 x 1.25", "$0.00192"},
	{"gpt-4.1", "", cost.Usage{Input: 100_000, CachedInput: 90_000, Output: 1000}, "10000 x 2 + 90000 x 0.50 + 1000 x 8", "$0.073"},
	{"gpt-4-turbo", "", cost.Usage{Input: 1000, CachedInput: 1000, Output: 100}, "1000 x 10 + 100 x 30", "$0.013"},
	{"gpt-5-nano", "", cost.Usage{Input: 1, CachedInput: 1}, "1 x 0.005", "$0.000000005"},

	// Cache writes.
	{
		"gpt-5.6", "",
		cost.Usage{Input: 6000, CachedInput: 2000, CacheWrite: 3000, Output: 100},
		"1000 x 5 + 2000 x 0.50 + 3000 x 6.25 + 100 x 30", "$0.02775",
	},
	{"gpt-5.6-terra", "", cost.Usage{Input: 1001, CacheWrite: 1001}, "1001 x 3.125", "$0.003128125"},
	{"gpt-5.5", "", cost.Usage{Input: 1000, CacheWrite: 1000}, "1000 x 5", "$0.005"},

	// Above the threshold the whole request is dearer.
	{"gpt-5.4", "", cost.Usage{Input: 272_000, Output: 1000}, "272000 x 2.50 + 1000 x 15", "$0.695"},
	{"gpt-5.4", "", cost.Usage{Input: 272_001, Output: 1000}, "272001 x 5 + 1000 x 22.50", "$1.382505"},
	{"gpt-5.5", "", cost.Usage{Input: 300_000, CachedInput: 200_000}, "100000 x 10 + 200000 x 1", "$1.20"},
	{"gpt-5.6", "", cost.Usage{Input: 300_000, CacheWrite: 300_000, Output: 1000}, "300000 x 12.50 + 1000 x 45", "$3.795"},
	{"gemini/gemini-2.5-pro", "", cost.Usage{Input: 200_001, Output: 1}, "200001 x 2.50 + 1 x 15", "$0.5000175"},
	{"dashscope/qwen-flash", "", cost.Usage{Input: 256_001, Output: 10}, "256001 x 0.25 + 10 x 2", "$0.06402025"},

	// Reasoning with a price of its own.
	{"dashscope/qwen-plus-2025-07-28", "", cost.Usage{Input: 1000, Output: 500, Reasoning: 400}, "1000 x 0.40 + 100 x 1.20 + 400 x 4", "$0.00212"},

	// Batch; what is not listed has no discount.
	{"gpt-4o", "", cost.Usage{Input: 1000, Output: 100, Tier: cost.Batch}, "1000 x 1.25 + 100 x 5", "$0.00175"},
	{"gpt-4.1-mini", "", cost.Usage{Input: 1000, CachedInput: 500, Output: 100, Tier: cost.Batch}, "500 x 0.20 + 500 x 0.10 + 100 x 0.80", "$0.00023"},
	{"gpt-5.5-pro", "", cost.Usage{Input: 10_000, Output: 5000, Tier: cost.Batch}, "10000 x 15 + 5000 x 90", "$0.60"},
	{"ft:gpt-4.1", "", cost.Usage{Input: 1000, Output: 100, Tier: cost.Batch}, "1000 x 1.50 + 100 x 6", "$0.0021"},
	{"text-embedding-3-large", "", cost.Usage{Input: 8191, Tier: cost.Batch}, "8191 x 0.065", "$0.000532415"},
	{"gpt-5", "", cost.Usage{Input: 1000, Output: 100, Tier: cost.Batch}, "1000 x 1.25 + 100 x 10", "$0.00225"},

	// Flex.
	{"o4-mini", "", cost.Usage{Input: 1000, CachedInput: 600, Output: 1000, Tier: cost.Flex}, "400 x 0.55 + 600 x 0.1375 + 1000 x 2.20", "$0.0025025"},
	{"gpt-5", "", cost.Usage{Input: 10_000, CachedInput: 8000, Output: 500, Tier: cost.Flex}, "2000 x 0.625 + 8000 x 0.0625 + 500 x 5", "$0.00425"},
	{"gpt-5.6", "", cost.Usage{Input: 1000, CacheWrite: 1000, Tier: cost.Flex}, "1000 x 3.125", "$0.003125"},
	{"gpt-5-nano", "", cost.Usage{Input: 1, CachedInput: 1, Tier: cost.Flex}, "1 x 0.0025", "$0.000000003"},
	{"gpt-5.6", "", cost.Usage{Input: 300_000, Output: 100, Tier: cost.Flex}, "300000 x 10 + 100 x 45", "$3.0045"},

	// Priority; what is not listed is three times the standard price.
	{"gpt-4o", "", cost.Usage{Input: 1000, CachedInput: 400, Output: 100, Tier: cost.Priority}, "600 x 4.25 + 400 x 2.125 + 100 x 17", "$0.0051"},
	{"o3", "", cost.Usage{Input: 1000, Output: 1000, Tier: cost.Priority}, "1000 x 3.50 + 1000 x 14", "$0.0175"},
	{"gpt-5.1-codex-mini", "", cost.Usage{Input: 1000, Output: 1000, Tier: cost.Priority}, "1000 x 0.45 + 1000 x 3.60", "$0.00405"},
	{"gpt-5.6", "", cost.Usage{Input: 272_001, Output: 1, Tier: cost.Priority}, "272001 x 30 + 1 x 135", "$8.160165"},
	{"gpt-4", "", cost.Usage{Input: 100, Output: 10, Tier: cost.Priority}, "100 x 90 + 10 x 180", "$0.0108"},
	{"o4-mini", "", cost.Usage{Input: 1000, Output: 1000, Tier: cost.OtherTier}, "1000 x 2 + 1000 x 8", "$0.01"},

	// Regions.
	{"gpt-5.6", "eu", cost.Usage{Input: 1000, Output: 100}, "1000 x 5 + 100 x 30 all x 1.1", "$0.0088"},
	{"gpt-5.4-mini", "us", cost.Usage{Input: 1, CachedInput: 1, Tier: cost.Flex}, "1 x 0.0375 all x 1.1", "$0.000000042"},
	{"gpt-5.4", "eu", cost.Usage{Input: 272_001, Output: 3}, "272001 x 5 + 3 x 22.50 all x 1.1", "$1.49607975"},
	{"gpt-4o", "eu", cost.Usage{Input: 1000}, "1000 x 2.50", "$0.0025"},
	{"azure/eu/gpt-4o-2024-08-06", "", cost.Usage{Input: 1000, CachedInput: 100, Output: 10}, "900 x 2.75 + 100 x 1.375 + 10 x 11", "$0.0027225"},

	// Audio.
	{"gpt-audio", "", cost.Usage{Input: 1000, AudioInput: 600, Output: 500, AudioOutput: 400}, "400 x 2.50 + 600 x 32 + 100 x 10 + 400 x 64", "$0.0468"},
	{"gpt-4o-audio-preview", "", cost.Usage{Input: 1000, AudioInput: 1000, CachedInput: 1000}, "1000 x 40", "$0.04"},
	{
		"gpt-realtime", "",
		cost.Usage{Input: 2000, CachedInput: 1000, AudioInput: 500, ImageInput: 300, Output: 100, AudioOutput: 100},
		"200 x 4 + 1000 x 0.40 + 500 x 32 + 300 x 5 + 100 x 64", "$0.0251",
	},
	{"gpt-realtime-2.1", "eu", cost.Usage{Input: 1000, AudioInput: 1000, CachedInput: 1000}, "1000 x 0.40 all x 1.1", "$0.00044"},
	{"gpt-4o-transcribe", "", cost.Usage{Input: 1500, AudioInput: 1400, Output: 200}, "100 x 2.50 + 1400 x 2.50 + 200 x 10", "$0.00575"},
	{"gpt-4o-mini-tts", "", cost.Usage{Input: 100, Output: 1000, AudioOutput: 1000}, "100 x 2.50 + 1000 x 12", "$0.01225"},
	{"whisper-1", "", cost.Usage{Milliseconds: 61_500}, "61.5 x 0.0001 each", "$0.00615"},
	{"tts-1", "", cost.Usage{Characters: 1234}, "1234 x 15", "$0.01851"},
	{"tts-1-hd", "", cost.Usage{Characters: 4096}, "4096 x 30", "$0.12288"},

	// Pictures.
	{"gpt-image-1", "", cost.Usage{Input: 350, ImageInput: 300, Output: 4160, ImageOutput: 4160}, "50 x 5 + 300 x 10 + 4160 x 40", "$0.16965"},
	{"gpt-image-1", "", cost.Usage{Input: 50, Output: 4160}, "50 x 5 + 4160 x 40", "$0.16665"},
	{"gpt-image-1.5", "", cost.Usage{Input: 20, Output: 1100, ImageOutput: 1000}, "20 x 5 + 100 x 10 + 1000 x 32", "$0.0331"},
	{"dall-e-2", "", cost.Usage{Images: 4}, "4 x 0.02 each", "$0.08"},
	{"gpt-4o", "", cost.Usage{Input: 1000, ImageInput: 765}, "235 x 2.50 + 765 x 2.50", "$0.0025"},

	// Embeddings and moderation.
	{"text-embedding-3-small", "", cost.Usage{Input: 8191}, "8191 x 0.02", "$0.00016382"},
	{"text-embedding-ada-002", "", cost.Usage{Input: 3}, "3 x 0.10", "$0.0000003"},
	{"omni-moderation-latest", "", cost.Usage{Input: 1000}, "1000 x 0", "$0.00"},
}

func TestGoldenBills(t *testing.T) {
	c := fixture(t) // the public list's prices where it has the model, and the embedded ones
	for _, b := range bills {
		m := c.Model(b.model)
		if !m.Priced {
			t.Errorf("%s has no price", b.model)
		}
		if got := m.Price.In(b.region).Cost(b.usage).String(); got != b.total {
			t.Errorf("%s, %+v: %s, want %s", b.model, b.usage, got, b.total)
		}
		if known := catalog(t).Model(b.model); known.Priced {
			if got := known.Price.In(b.region).Cost(b.usage).String(); got != b.total {
				t.Errorf("%s, %+v by the embedded list: %s, want %s", b.model, b.usage, got, b.total)
			}
		} else if !strings.Contains(b.model, "/") {
			t.Errorf("the embedded list has no price for %s", b.model)
		}
		if got := b.worked(t).String(); got != b.total {
			t.Errorf("%s: %s is %s, not %s", b.model, b.sum, got, b.total)
		}
	}
}

// What is reserved for a request, worked out by hand likewise: the dearest kind of each token, as many as there can be.
var reservations = []struct {
	name, model string
	request     cost.Request
	sum, total  string
}{
	{"a picture by token", "gpt-image-1", cost.Request{TokenIDs: 10, Pictures: cost.Pictures{N: 1, Width: 1024, Height: 1024, Quality: cost.LowQuality}}, "10 x 10 + 272 x 40", "$0.01098"},
	{"three of whatever quality, with previews", "gpt-image-2", cost.Request{Pictures: cost.Pictures{N: 3, Partial: 2}}, "21672 x 30", "$0.65016"},
	{"pictures by piece", "dall-e-3", cost.Request{TokenIDs: 10, Pictures: cost.Pictures{N: 2, Width: 1024, Height: 1792, Quality: cost.HDQuality}}, "2 x 0.12 each", "$0.24"},
	{"small ones", "dall-e-2", cost.Request{Pictures: cost.Pictures{N: 10, Width: 256, Height: 256}}, "10 x 0.016 each", "$0.16"},
	{"speech by character", "tts-1", cost.Request{TokenIDs: 9, Speech: cost.Speech{Characters: 1234, Bytes: 1300}}, "1234 x 15", "$0.01851"},
	{"speech by token", "gpt-4o-mini-tts", cost.Request{TokenIDs: 25, Speech: cost.Speech{Characters: 100, Bytes: 101}}, "25 x 2.50 + 202 x 12", "$0.0024865"},
	{"slow speech", "gpt-4o-mini-tts", cost.Request{TokenIDs: 25, Speech: cost.Speech{Characters: 100, Bytes: 101, Slowed: 150}}, "25 x 2.50 + 303 x 12", "$0.0036985"},
	{"a recording by the second", "whisper-1", cost.Request{Transcribes: true, Audio: []cost.Audio{{Milliseconds: 61_500}}}, "61.5 x 0.0001 each", "$0.00615"},
	{"a recording by token", "gpt-4o-transcribe", cost.Request{Transcribes: true, TokenIDs: 40, Audio: []cost.Audio{{Milliseconds: 60_001}}}, "641 x 2.50 + 2000 x 10", "$0.0216025"},
	{"tools without a limit", "gpt-4o", cost.Request{Hosted: []cost.Hosted{{Type: "web_search"}}, HasMaxOutput: true, MaxOutput: 100}, "48000 x 2.50 + 100 x 10 + 3 x 0.01 each", "$0.151"},
	{"tools with a limit", "gpt-4o", cost.Request{Hosted: []cost.Hosted{{Type: "web_search"}, {Type: "file_search"}}, MostHosted: 2, HasMaxOutput: true, MaxOutput: 100}, "24000 x 2.50 + 100 x 10 + 2 x 0.01 each", "$0.081"},
	{"a search by a model that does not reason", "gpt-4o", cost.Request{Hosted: []cost.Hosted{{Type: "web_search_preview"}}, MostHosted: 1, HasMaxOutput: true}, "8000 x 2.50 + 1 x 0.025 each", "$0.045"},
	{"and by one that does", "gpt-5", cost.Request{Hosted: []cost.Hosted{{Type: "web_search_preview"}, {Type: "code_interpreter"}}, MostHosted: 1, HasMaxOutput: true}, "8000 x 1.25 + 1 x 0.01 each + 1 x 0.03 each", "$0.05"},
	{"a prediction", "gpt-4o", cost.Request{Text: []cost.Text{{Part: cost.PartPrediction, S: "hello world"}}, HasMaxOutput: true, MaxOutput: 100}, "2 x 2.50 + 102 x 10", "$0.001025"},
	{"a prediction of three answers", "gpt-4o", cost.Request{Text: []cost.Text{{Part: cost.PartPrediction, S: "hello world"}}, HasMaxOutput: true, MaxOutput: 100, Choices: 3}, "2 x 2.50 + 306 x 10", "$0.003065"},
	{"an echo", "gpt-3.5-turbo-instruct", cost.Request{TokenIDs: 50, Echo: true, HasMaxOutput: true, MaxOutput: 10}, "50 x 1.50 + 60 x 2", "$0.000195"},
	{"an embedding of numbers", "text-embedding-3-small", cost.Request{TokenIDs: 8191}, "8191 x 0.02", "$0.00016382"},
	{"moderation", "omni-moderation-latest", cost.Request{TokenIDs: 5000}, "5000 x 0", "$0.00"},
}

func TestGoldenReservations(t *testing.T) {
	for _, r := range reservations {
		m := catalog(t).Model(r.model)
		est := cost.NewEstimator().Estimate(r.request, m)
		if got := m.Price.ForPictures(r.request.Pictures).Ceiling(est.Bound()).String(); got != r.total {
			t.Errorf("%s by %s: %s, want %s; %+v", r.name, r.model, got, r.total, est)
		}
		if got := (bill{model: r.model, sum: r.sum}).worked(t).String(); got != r.total {
			t.Errorf("%s: %s is %s, not %s", r.name, r.sum, got, r.total)
		}
	}
}

// worked does the arithmetic of the sum, and knows nothing of prices.
func (b bill) worked(t *testing.T) cost.NanoUSD {
	t.Helper()
	number := func(s string) *big.Rat {
		r, ok := new(big.Rat).SetString(strings.TrimSpace(s))
		if !ok {
			t.Fatalf("%s: %q is not a number", b.model, s)
		}
		return r
	}
	sum, factor, regional := strings.Cut(b.sum, " all x ")
	nano := big.NewInt(0)
	for term := range strings.SplitSeq(sum, " + ") {
		amount, each := strings.CutSuffix(term, " each")
		count, price, ok := strings.Cut(amount, " x ")
		if !ok {
			t.Fatalf("%s: %q is not a term", b.model, term)
		}
		r := new(big.Rat).Mul(number(count), number(price))
		r.Mul(r, big.NewRat(1000, 1)) // dollars for a million to billionths for one
		if each {
			r.Mul(r, big.NewRat(1_000_000, 1))
		}
		if regional {
			r.Mul(r, number(factor))
		}
		up := new(big.Int).Add(r.Num(), new(big.Int).Sub(r.Denom(), big.NewInt(1)))
		nano.Add(nano, up.Quo(up, r.Denom()))
	}
	return cost.NanoUSD(nano.Int64())
}
