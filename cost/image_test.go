package cost_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
)

// imageTokens is what an image costs with the model of that name.
func imageTokens(t *testing.T, model string, i cost.Image) (int64, cost.Basis) {
	t.Helper()
	est := cost.NewEstimator().Estimate(cost.Request{Images: []cost.Image{i}, HasMaxOutput: true}, catalog(t).Model(model))
	if est.Input != est.ByPart[cost.PartImages] || est.Basis != est.BasisOf[cost.PartImages] {
		t.Errorf("%s: %+v counts more than the image", model, est)
	}
	return est.Input, est.Basis
}

func TestImagesOfKnownSize(t *testing.T) {
	for _, c := range []struct {
		model  string
		w, h   int64
		detail cost.Detail
		want   int64
	}{
		// The guide's own examples.
		{"gpt-4o", 1024, 1024, cost.AutoDetail, 765},        // 768 x 768: 2 x 2 tiles
		{"gpt-4o", 2048, 4096, cost.HighDetail, 1105},       // 1024 x 2048, then 768 x 1536: 2 x 3 tiles
		{"gpt-4o", 512, 512, cost.AutoDetail, 255},          // one tile
		{"gpt-4o", 4096, 8192, cost.LowDetail, 85},          // the base alone
		{"gpt-5", 1920, 1080, cost.AutoDetail, 910},         // 1365 x 768: 3 x 2 tiles
		{"gpt-5.4", 1024, 1024, cost.HighDetail, 1229},      // 32 x 32 patches, 1228.8
		{"gpt-5.4", 2048, 2048, cost.HighDetail, 3000},      // 4096 patches shrunk to 50 x 50
		{"gpt-5.6-sol", 4000, 2500, cost.AutoDetail, 11850}, // 125 x 79 patches, 9875
		{"gpt-4o-mini", 1024, 1024, cost.AutoDetail, 25501}, // 2833 + 4 x 5667

		// Tile models.
		{"gpt-4o", 1, 1, cost.AutoDetail, 255},
		{"gpt-4o", 513, 512, cost.AutoDetail, 425},
		{"gpt-4o", 3000, 100, cost.AutoDetail, 765}, // 2048 x 68: 4 x 1 tiles
		{"gpt-4o", 100_000, 1, cost.AutoDetail, 765},
		{"gpt-4o", 2048, 2048, cost.OriginalDetail, 765}, // 768 x 768
		{"gpt-4.1", 1024, 1024, cost.AutoDetail, 765},
		{"gpt-4.1-2025-04-14", 1024, 1024, cost.AutoDetail, 765},
		{"gpt-4.5-preview", 512, 512, cost.AutoDetail, 255},
		{"chatgpt-4o-latest", 512, 512, cost.AutoDetail, 255},
		{"ft:gpt-4o-2024-08-06:org::id", 512, 512, cost.AutoDetail, 255},
		{"ft:gpt-4o-mini-2024-07-18:org::id", 512, 512, cost.AutoDetail, 8500},
		{"openai/gpt-4o-mini", 512, 512, cost.LowDetail, 2833},
		{"gpt-5-2025-08-07", 1024, 1024, cost.AutoDetail, 630},
		{"gpt-5-chat-latest", 512, 512, cost.LowDetail, 70},
		{"gpt-5.1", 1024, 1024, cost.AutoDetail, 630},
		{"o1", 1024, 1024, cost.AutoDetail, 675},
		{"o1-pro", 512, 512, cost.AutoDetail, 225},
		{"o3", 1024, 1024, cost.AutoDetail, 675},

		// Patch models.
		{"gpt-5.6-luna", 4000, 2500, cost.LowDetail, 192},             // 512 x 320: 16 x 10 patches
		{"gpt-5.6-terra", 4000, 2500, cost.HighDetail, 2949},          // 2048 x 1280: 64 x 40 = 2560 patches, shrunk to 63 x 39 = 2457, 2948.4
		{"gpt-5.6-sol", 100_000, 100_000, cost.OriginalDetail, 36000}, // more patches than any call may have
		{"gpt-5.5", 4000, 2500, cost.AutoDetail, 11850},
		{"gpt-5.5", 6000, 6000, cost.AutoDetail, 12000}, // 188 x 188 patches, shrunk to 100 x 100
		{"gpt-5.5", 1024, 1024, cost.LowDetail, 308},    // 16 x 16 patches, 307.2
		{"gpt-5.4", 2048, 2048, cost.LowDetail, 4916},   // 64 x 64 patches, 4915.2
		{"gpt-5.4-mini", 2048, 2048, cost.AutoDetail, 3000},
		{"gpt-5.4-nano", 2048, 2048, cost.OriginalDetail, 4916},
		{"gpt-5.4", 2048, 2048, cost.OtherDetail, 4916}, // the dearest of them
		{"gpt-5.2", 4096, 4096, cost.AutoDetail, 4916},
		{"gpt-5.2", 32, 32, cost.AutoDetail, 2}, // 1.2
		{"gpt-5.2", 33, 32, cost.AutoDetail, 3}, // 2.4
		{"gpt-4.1-mini", 1024, 1024, cost.AutoDetail, 1659},
		{"gpt-4.1-nano", 1024, 1024, cost.AutoDetail, 2520},
		{"o4-mini", 1024, 1024, cost.AutoDetail, 1762},
		{"gpt-5-mini-2025-08-07", 1024, 1024, cost.AutoDetail, 1229},
		{"gpt-5-nano", 1024, 1024, cost.AutoDetail, 1536},
	} {
		got, basis := imageTokens(t, c.model, cost.Image{Width: c.w, Height: c.h, Detail: c.detail})
		if got != c.want || basis != cost.Formula {
			t.Errorf("%s, %d x %d, detail %d: %d tokens (%v), want %d", c.model, c.w, c.h, c.detail, got, basis, c.want)
		}
	}
}

func TestImagesForGeneration(t *testing.T) {
	for _, c := range []struct {
		image cost.Image
		want  int64
	}{
		{cost.Image{Width: 1024, Height: 1024}, 194}, // 512 x 512: 65 + 129
		{cost.Image{Width: 1024, Height: 1536}, 323}, // 512 x 768: 65 + 2 x 129
		{cost.Image{Width: 1024, Height: 1024, HighFidelity: true}, 194 + 4160},
		{cost.Image{Width: 1024, Height: 1536, HighFidelity: true}, 323 + 6240},
	} {
		if got, _ := imageTokens(t, "gpt-image-1", c.image); got != c.want {
			t.Errorf("%+v: %d tokens, want %d", c.image, got, c.want)
		}
	}
}

func TestImagesOfUnknownSize(t *testing.T) {
	for _, c := range []struct {
		model  string
		image  cost.Image
		want   int64
		basis  cost.Basis
		reason string
	}{
		{"gpt-4o", cost.Image{}, 1445, cost.Approximate, "the most that any image costs"},
		{"gpt-4o", cost.Image{Detail: cost.LowDetail}, 85, cost.Formula, "the base, whatever its size"},
		{"gpt-5.6", cost.Image{Detail: cost.LowDetail}, 308, cost.Approximate, "a full square of 512 pixels"},
		{"gpt-5.6", cost.Image{}, 12000, cost.Approximate, "the catalog's figure"},
		{"gpt-5.6", cost.Image{Detail: cost.HighDetail}, 3000, cost.Approximate, "no image takes more than 2,500 patches then"},
		{"gpt-5.6", cost.Image{Detail: cost.OriginalDetail}, 12000, cost.Approximate, "the catalog's figure: any may take 36,000"},
		{"gpt-image-1.5", cost.Image{Width: 1536, Height: 1024, HighFidelity: true}, 65 + 2*129 + 6240, cost.Formula, "as of gpt-image-1"},
		{"gpt-image-2", cost.Image{Width: 1024, Height: 1024}, 1024, cost.Formula, "32 x 32 patches"},
		{"llava", cost.Image{Width: 10, Height: 10}, cost.DefaultImageTokens, cost.Approximate, "no formula"},
		{"gpt-50", cost.Image{Width: 10, Height: 10}, 12000, cost.Approximate, "not a gpt-5"},
	} {
		if got, basis := imageTokens(t, c.model, c.image); got != c.want || basis != c.basis {
			t.Errorf("%s: %d tokens (%v), want %d (%v): %s", c.model, got, basis, c.want, c.basis, c.reason)
		}
	}
}

// png, gif and the others are the beginnings of files of that size, made by hand from the formats' descriptions.
var (
	png  = "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x01\x40\x00\x00\x00\xf0\x08\x02\x00\x00\x00"          // 320 x 240
	gif  = "GIF89a\x40\x01\xf0\x00\x80\x00\x00" + "rgbrgb" + "!\xfe\x02hi\x01!\x00" + gifd                      // 320 x 240, with two colours and a comment
	gifd = ",\x00\x00\x00\x00\x40\x01\xf0\x00"                                                                  // a frame of that size
	vp8  = "RIFF\x24\x00\x00\x00WEBPVP8 \x18\x00\x00\x00\x30\x01\x00\x9d\x01\x2a\x40\x01\xf0\x00"               // 320 x 240
	vp8l = "RIFF\x24\x00\x00\x00WEBPVP8L\x18\x00\x00\x00\x2f\x3f\xc1\x3b\x00\x00\x00\x00\x00\x00"               // 320 x 240
	vp8x = "RIFF\x24\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x10\x00\x00\x00\x3f\x01\x00\xef\x00\x00"               // 320 x 240
	sof0 = "\xff\xc0\x00\x11\x08\x00\xf0\x01\x40\x03\x01\x22\x00"                                               // 320 x 240
	jpeg = "\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00" + "\xff\xdb\x00\x04ab" + sof0 // JFIF, a table, the frame
	exif = "\xff\xd8\xff\xe1\xff\xff" + strings.Repeat("x", 65_533) + "\xff\xff\xff\xc2" + sof0[2:]             // a segment as long as can be, a fill byte, progressive
	fake = "\xff\xd8\xff\xe1\x00\x0f" + sof0 + "\xff\xc0\x00\x11\x08\x00\x10\x00\x20\x03\x01\x22\x00"           // a frame header inside a segment is none: 32 x 16
	long = "\xff\xd8" + strings.Repeat("\xff\xfe\x00\x02", 1000) + sof0                                         // a thousand empty comments
	far  = "\xff\xd8" + strings.Repeat("\xff\xfe\x00\x02", 2000) + sof0                                         // too many
)

func TestImageSizesFromHeaders(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		w, h int64
	}{
		"PNG": {png, 320, 240}, "GIF": {gif, 320, 240}, "GIF of 1987": {"GIF87a" + gif[6:], 320, 240},
		"GIF with a frame beyond its screen": {"GIF89a\x01\x00\x01\x00\x00\x00\x00,\x40\x01\x00\x00\x40\x01\xf0\x00", 640, 240},
		"GIF with a frame of a corner":       {"GIF89a\x40\x01\xf0\x00\x00\x00\x00,\x10\x00\x10\x00\x01\x00\x01\x00", 320, 240},
		"GIF without a frame":                {"GIF89a\x40\x01\xf0\x00\x00\x00\x00;", 0, 0}, "GIF that ends": {gif[:len(gif)-1], 0, 0},
		"GIF of comments": {"GIF89a\x40\x01\xf0\x00\x00\x00\x00" + strings.Repeat("!\xfe\x00", 2000) + gifd, 0, 0},
		"WebP VP8":        {vp8, 320, 240}, "WebP VP8L": {vp8l, 320, 240}, "WebP VP8X": {vp8x, 320, 240},
		"JPEG": {jpeg, 320, 240}, "JPEG behind EXIF": {exif, 320, 240}, "JPEG with a preview": {fake, 32, 16},
		"JPEG with comments": {long, 320, 240}, "JPEG with too many": {far, 0, 0},
		"JPEG without a frame": {"\xff\xd8\xff\xda\x00\x08" + sof0, 0, 0}, "JPEG that ends": {jpeg[:30], 0, 0},
		"JPEG with an empty segment": {"\xff\xd8\xff\xe0\x00\x00" + sof0, 0, 0},
		"PNG that ends":              {png[:20], 0, 0}, "PNG without IHDR": {strings.Replace(png, "IHDR", "CgBI", 1), 0, 0},
		"PNG of no width": {png[:16] + "\x00\x00\x00\x00" + png[20:], 0, 0}, "PNG too wide": {png[:16] + "\xff\xff\xff\xff" + png[20:], 0, 0},
		"WebP that ends": {vp8[:28], 0, 0}, "VP8 without a start code": {strings.Replace(vp8, "\x9d\x01\x2a", "abc", 1), 0, 0},
		"VP8 between key frames": {strings.Replace(vp8, "\x30\x01\x00", "\x31\x01\x00", 1), 0, 0},
		"VP8L without signature": {strings.Replace(vp8l, "\x2f", "\x2e", 1), 0, 0}, "another RIFF": {strings.Replace(vp8, "WEBP", "WAVE", 1), 0, 0},
		"text": {"hello, this is no image at all", 0, 0}, "nothing": {"", 0, 0}, "a beginning": {"\xff\xd8\xff", 0, 0},
	} {
		for _, encode := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding} {
			got := cost.ImageOf([]byte("data:image/x;charset=x;base64,"+encode.EncodeToString([]byte(c.file))), cost.HighDetail)
			if want := (cost.Image{Width: c.w, Height: c.h, Detail: cost.HighDetail}); got != want {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
			if got := cost.ImageOfFile([]byte(c.file), cost.HighDetail); got.Width != c.w || got.Height != c.h || got.Detail != cost.HighDetail {
				t.Errorf("%s as it is: %+v", name, got)
			}
		}
	}
}

// Decoders commonly skip what is not base64, so what stands behind it is not where we would look for it.
func TestAnImageWithOddCharactersBeforeItsSizeIsUnknown(t *testing.T) {
	for _, file := range []string{fake, gif} {
		data := base64.StdEncoding.EncodeToString([]byte(file))
		for _, odd := range []string{"\n", "\r\n", "!", "=", " ", "\\n!!"} {
			for at := 0; at < len(data)-16; at++ {
				if got := cost.ImageOf([]byte("data:;base64,"+data[:at]+odd+data[at:]), cost.AutoDetail); got.Width != 0 {
					t.Fatalf("%q at %d of %d: %+v", odd, at, len(data), got)
				}
			}
			if got := cost.ImageOf([]byte("data:;base64,"+data+"AAAA"+odd), cost.AutoDetail); got.Width == 0 {
				t.Errorf("%q behind the header: nothing is known", odd)
			}
		}
	}
}

func TestImagesThatAreNotInTheRequest(t *testing.T) {
	data := base64.StdEncoding.EncodeToString([]byte(png))
	if got := cost.ImageOf([]byte("DATA:;BASE64,"+data), cost.AutoDetail); got.Width != 320 {
		t.Errorf("the scheme is matched by case: %+v", got)
	}
	for _, url := range []string{
		"https://example.com/a.png", "", "data:", "data:,", "data:image/png," + data, "data:image/png;base64" + data, data,
		"data:image/png;base64, " + data, "data:image/png;base64,\n" + data, "data:image/png;base64,!" + data,
		"data:" + strings.Repeat("x", 2000) + ";base64," + data, "file:///etc/passwd;base64," + data,
	} {
		if got := cost.ImageOf([]byte(url), cost.AutoDetail); got != (cost.Image{}) {
			t.Errorf("%.60s: %+v, want nothing known", url, got)
		}
	}
}

func FuzzImageOf(f *testing.F) {
	for _, file := range []string{png, gif, vp8, vp8l, vp8x, jpeg, fake, long} {
		f.Add([]byte(file), "")
	}
	f.Add([]byte(nil), "data:image/png;base64,iVBORw0KGgo=")
	estimator := cost.NewEstimator()
	var models []cost.Model
	for _, name := range []string{"gpt-4o", "gpt-4o-mini", "gpt-5.4", "gpt-5.5", "gpt-5.6", "gpt-image-1"} {
		models = append(models, catalog(f).Model(name))
	}
	f.Fuzz(func(t *testing.T, file []byte, url string) {
		encoded := []byte("data:;base64," + base64.StdEncoding.EncodeToString(file))
		for _, u := range [][]byte{[]byte(url), encoded} {
			i := cost.ImageOf(u, cost.AutoDetail)
			if i.Width < 0 || i.Height < 0 || (i.Width == 0) != (i.Height == 0) || i.Width > 1<<31 || i.Height > 1<<31 {
				t.Fatalf("%q: %+v", u, i)
			}
			for _, m := range models {
				n := estimator.Estimate(cost.Request{Images: []cost.Image{i}}, m).Input
				if n < 1 || n > 50_000 {
					t.Fatalf("%s charges %d for %+v", m.Name, n, i)
				}
			}
		}
	})
}

func BenchmarkImageOf(b *testing.B) {
	url := []byte("data:image/jpeg;base64," + base64.StdEncoding.EncodeToString([]byte(exif+strings.Repeat("x", 10<<20))))
	b.ReportAllocs()
	for b.Loop() {
		if cost.ImageOf(url, cost.AutoDetail).Width != 320 {
			b.Fatal("not read")
		}
	}
}
