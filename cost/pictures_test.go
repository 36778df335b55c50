package cost_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/cost"
)

// made is the estimate of a request for pictures.
func made(t *testing.T, model string, p cost.Pictures) cost.Estimate {
	t.Helper()
	return cost.NewEstimator().Estimate(cost.Request{Pictures: p}, catalog(t).Model(model))
}

// The figures of OpenAI's guide to image generation, and those that its calculator gives for gpt-image-2.
func TestPicturesByToken(t *testing.T) {
	square, portrait, landscape := cost.Pictures{Width: 1024, Height: 1024}, cost.Pictures{Width: 1024, Height: 1536}, cost.Pictures{Width: 1536, Height: 1024}
	for _, c := range []struct {
		model   string
		size    cost.Pictures
		quality cost.Quality
		want    int64
		basis   cost.Basis
	}{
		{"gpt-image-1", square, cost.LowQuality, 272, cost.Formula},
		{"gpt-image-1", portrait, cost.LowQuality, 408, cost.Formula},
		{"gpt-image-1", landscape, cost.LowQuality, 400, cost.Formula},
		{"gpt-image-1", square, cost.MediumQuality, 1056, cost.Formula},
		{"gpt-image-1", portrait, cost.MediumQuality, 1584, cost.Formula},
		{"gpt-image-1", landscape, cost.MediumQuality, 1568, cost.Formula},
		{"gpt-image-1", square, cost.HighQuality, 4160, cost.Formula},
		{"gpt-image-1.5-2025-12-16", portrait, cost.HighQuality, 6240, cost.Formula},
		{"openai/gpt-image-1", landscape, cost.HighQuality, 6208, cost.Formula},
		{"gpt-image-1", cost.Pictures{}, cost.AutoQuality, 6240, cost.Formula}, // whatever the model likes
		{"gpt-image-1", cost.Pictures{}, cost.LowQuality, 408, cost.Formula},
		{"gpt-image-1", square, cost.OtherQuality, 4160, cost.Formula},
		{"gpt-image-2", square, cost.HighQuality, 7024, cost.Formula},
		{"gpt-image-2", landscape, cost.HighQuality, 5488, cost.Formula},
		{"gpt-image-2-2026-04-21", cost.Pictures{Width: 1792, Height: 1024}, cost.AutoQuality, 5063, cost.Formula},
		{"gpt-image-2", cost.Pictures{Width: 3584, Height: 2048}, cost.HighQuality, 12_329, cost.Formula},
		{"gpt-image-2", cost.Pictures{}, cost.AutoQuality, 7024, cost.Formula},
		{"gpt-image-1-mini", square, cost.LowQuality, 272, cost.Approximate},
		{"gpt-image-1-mini", square, cost.HighQuality, 7024, cost.Approximate}, // nobody says which formula is its own
		{"gpt-image-3", portrait, cost.HighQuality, 6240, cost.Approximate},
	} {
		one := c.size
		one.N, one.Quality = 1, c.quality
		if est := made(t, c.model, one); est.MaxOutput != c.want || est.Basis != c.basis || est.Pictures != 1 {
			t.Errorf("%s, %+v: %d tokens, %v, want %d, %v", c.model, one, est.MaxOutput, est.Basis, c.want, c.basis)
		}
		one.N, one.Partial = 3, 2 // each preview is 100 tokens
		if est := made(t, c.model, one); est.MaxOutput != 3*(c.want+200) || est.Pictures != 3 {
			t.Errorf("%s, %+v: %d tokens, want %d", c.model, one, est.MaxOutput, 3*(c.want+200))
		}
	}
	for _, odd := range []cost.Pictures{{N: -1, Width: -1, Partial: -1}, {N: 1 << 62, Width: 1 << 62, Height: 1 << 62, Partial: 1 << 62}} {
		if est := made(t, "gpt-image-1", odd); est.MaxOutput < 0 || est.Pictures < 0 || odd.N < 0 && est.Pictures > 0 {
			t.Errorf("%+v: %+v", odd, est)
		}
	}
}

func TestPicturesByPiece(t *testing.T) {
	for _, c := range []struct {
		model, quality string
		width, height  int64
		want           string
	}{
		{"dall-e-2", "", 256, 256, "$0.016"},
		{"dall-e-2", "standard", 512, 512, "$0.018"},
		{"dall-e-2", "auto", 1024, 1024, "$0.02"},
		{"dall-e-2", "", 0, 0, "$0.02"},
		{"dall-e-2", "", 333, 333, "$0.02"},
		{"dall-e-3", "standard", 1024, 1024, "$0.04"},
		{"dall-e-3", "", 0, 0, "$0.04"}, // what it makes by itself
		{"dall-e-3", "auto", 1792, 1024, "$0.08"},
		{"dall-e-3", "standard", 1024, 1792, "$0.08"},
		{"dall-e-3", "hd", 0, 0, "$0.08"},
		{"dall-e-3", "hd", 1024, 1024, "$0.08"},
		{"dall-e-3", "hd", 1792, 1024, "$0.12"},
		{"dall-e-3", "hd", 1024, 1792, "$0.12"},
		{"dall-e-3", "ultra", 1024, 1024, "$0.12"}, // of an unknown kind: the dearest there is
		{"dall-e-3", "standard", 4096, 4096, "$0.12"},
	} {
		asked := cost.Pictures{N: 2, Width: c.width, Height: c.height, Quality: cost.QualityNamed(c.quality)}
		for list, known := range map[string]*cost.Catalog{"the embedded list": catalog(t), "the price file": fixture(t)} {
			p := known.Model(c.model).Price.ForPictures(asked)
			each := p.Cost(cost.Usage{Images: 1})
			if each.String() != c.want {
				t.Errorf("%s, %+v by %s: %v, want %s", c.model, asked, list, each, c.want)
			}
			est := cost.NewEstimator().Estimate(cost.Request{Pictures: asked}, known.Model(c.model))
			if est.MaxOutput != 0 || est.Basis != cost.Exact || p.Ceiling(est.Bound()) != 2*each {
				t.Errorf("%s by %s: %+v", c.model, list, est)
			}
		}
		if whole := catalog(t).Model(c.model).Price.Cost(cost.Usage{Images: 1}); c.model == "dall-e-3" && whole.String() != "$0.12" {
			t.Errorf("a picture of no kind costs %v", whole)
		}
	}
}

// Entries for kinds of picture belong to the model they end with, and one price for all pictures makes none cheaper.
func TestPicturesOfAPriceFile(t *testing.T) {
	const hd, plain = "1024x1792 hd", "1024x1024"
	price := func(c *cost.Catalog, model, kind string) string {
		asked := cost.Pictures{N: 1, Width: 1024, Height: 1024}
		if kind == hd {
			asked.Height, asked.Quality = 1792, cost.HDQuality
		}
		return c.Model(model).Price.ForPictures(asked).Cost(cost.Usage{Images: 1}).String()
	}
	for _, c := range []struct{ file, model, kind, want string }{
		{`"dall-e-3":{"mode":"image_generation","input_cost_per_image":0.04}`, "dall-e-3", hd, "$0.12"},
		{`"dall-e-3":{"mode":"image_generation","input_cost_per_image":0.2}`, "dall-e-3", plain, "$0.20"},
		{`"dall-e-3":{"mode":"image_generation","input_cost_per_image":0.2},"standard/1024-x-1024/dall-e-3":{"mode":"image_generation","output_cost_per_image":0.05}`, "dall-e-3", plain, "$0.05"},
		{`"hd/1024-x-1792/dall-e-3":{"mode":"image_generation","input_cost_per_pixel":6.539e-08}`, "dall-e-3", hd, "$0.12"},
		{`"hd/1024-x-1792/dall-e-3":{"mode":"image_generation","input_cost_per_pixel":8e-08}`, "dall-e-3", hd, "$0.15"},
		{`"hd/1024-x-1792/dall-e-3":{"mode":"image_generation","input_cost_per_pixel":8e-08}`, "dall-e-3", plain, "$0.04"},
		{`"azure/hd/1024-x-1792/dall-e-3":{"mode":"image_generation","input_cost_per_pixel":7.085e-08,"output_cost_per_token":0}`, "azure/dall-e-3", hd, "$0.13002"},
		{`"azure/hd/1024-x-1792/dall-e-3":{"mode":"image_generation","input_cost_per_image":0.13}`, "dall-e-3", hd, "$0.12"},
		{`"1024-x-1024/painter":{"mode":"image_generation","input_cost_per_image":0.01},"hd/1024-x-1792/painter":{"mode":"image_generation","input_cost_per_image":0.02}`, "painter", plain, "$0.01"},
		{`"1024-x-1024/painter":{"mode":"image_generation","input_cost_per_image":0.01},"hd/1024-x-1792/painter":{"mode":"image_generation","input_cost_per_image":0.02}`, "painter", hd, "$0.02"},
		{`"azure/standard/1024-x-1024/dall-e-2":{"mode":"image_generation","input_cost_per_pixel":0}`, "azure/dall-e-2", plain, "$0.02"},
		{`"1024-x-1024/50-steps/painter":{"mode":"image_generation","output_cost_per_image":0.04}`, "1024-x-1024/50-steps/painter", plain, "$0.04"},
		{`"high/1024-x-1024/gpt-image-1":{"mode":"image_generation","input_cost_per_image":0.167}`, "gpt-image-1", plain, "$0.00"}, // by token
		{`"painter":{"mode":"image_generation","output_cost_per_image":0.04,"output_cost_per_image_token":3e-05}`, "painter", plain, "$0.00"},
	} {
		if got := price(with(t, "{"+c.file+"}"), c.model, c.kind); got != c.want {
			t.Errorf("%s: a picture %s by %s costs %s, want %s", c.file, c.kind, c.model, got, c.want)
		}
	}
	c := with(t, `{"hd/1024-x-1792/painter":{"mode":"image_generation","input_cost_per_image":0.02}}`)
	if m := c.Model("painter"); !m.Priced || m.Source != cost.FromFile || m.DefaultOutput != 0 || m.Name != "painter" {
		t.Errorf("%+v", m)
	}
	if m := catalog(t).Model("painter"); m.Priced {
		t.Errorf("a price file changed the list it stands before: %+v", m)
	}
}

func TestKindsOfPicture(t *testing.T) {
	for _, s := range []string{"hd/1024x1792", "512x512", "low/1x65535"} {
		if k, err := cost.ParsePictureKind(s); err != nil || k.String() != s {
			t.Errorf("%s: %v, %v", s, k, err)
		}
	}
	for _, s := range []string{"", "x", "0x5", "5x", "ultra/5x5", "/5x5", "hd/", "65536x1", "-1x5", "1x2x3"} {
		if k, err := cost.ParsePictureKind(s); err == nil || !strings.Contains(err.Error(), "write it like") && !strings.Contains(err.Error(), "use one of") {
			t.Errorf("%q is %v, %v", s, k, err)
		}
	}
	for _, q := range []string{"auto", "low", "medium", "high", "standard", "hd"} {
		if got := cost.QualityNamed(q).String(); got != q {
			t.Errorf("%s is %s", q, got)
		}
	}
	if cost.QualityNamed("") != cost.AutoQuality || cost.QualityNamed("ultra").String() != "other" {
		t.Error("words that are no quality")
	}
}

// However the kinds are priced, no picture costs more than one of no known kind, in any tier; and what prices share is
// not written to.
func TestAKindIsNeverDearerThanTheDearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dollars := rapid.Int64Range(0, 100).Draw(t, "flat")
		card := cost.Card{Pictures: map[cost.PictureKind]cost.NanoUSD{}}
		card.Standard.Set(0, cost.PerImage, cost.NanoUSD(dollars)*1_000_000_000_000)
		card.Flex.Set(0, cost.Input, 1_000_000_000)
		card.Standard.Set(1000, cost.Output, 1_000_000_000)
		kinds := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) cost.PictureKind {
			return cost.PictureKind{
				Quality: cost.Quality(rapid.IntRange(0, 5).Draw(t, "quality")),
				Width:   rapid.SampledFrom([]int64{256, 1024}).Draw(t, "width"), Height: rapid.SampledFrom([]int64{256, 1024}).Draw(t, "height"),
			}
		}), 0, 8).Draw(t, "kinds")
		for _, k := range kinds {
			card.Pictures[k] = cost.NanoUSD(rapid.Int64Range(0, 100).Draw(t, "rate")) * 1_000_000_000_000
		}
		p, err := card.Price()
		if err != nil {
			t.Fatal(err)
		}
		asked := cost.Pictures{Width: rapid.SampledFrom([]int64{0, 256, 1024, 7}).Draw(t, "w"), Height: 1024, Quality: cost.Quality(rapid.IntRange(0, 6).Draw(t, "q"))}
		before := p.Ceiling(cost.Bound{Images: 3})
		for _, tier := range []cost.Tier{cost.Unstated, cost.Flex, cost.Standard, cost.Priority} {
			u := cost.Usage{Images: 3, Tier: tier}
			if kind, whole := p.ForPictures(asked).Cost(u), p.Cost(u); kind > whole {
				t.Errorf("%v: %v is more than %v", tier, kind, whole)
			}
		}
		if rate, listed := card.Pictures[cost.PictureKind{Quality: asked.Quality, Width: asked.Width, Height: asked.Height}]; listed && asked.Quality != cost.AutoQuality {
			if got := p.ForPictures(asked).Rates[cost.PerImage]; got < rate {
				t.Errorf("%+v costs %v, less than %v", asked, got, rate)
			}
		}
		if after := p.Ceiling(cost.Bound{Images: 3}); after != before {
			t.Errorf("the price is another: %v, then %v", before, after)
		}
	})
}
