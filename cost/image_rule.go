package cost

import "math"

// Both formulas are from OpenAI's "Images and vision" guide.

// A patchRule charges for each square of 32 x 32 pixels that an image needs once it has been made to fit.
type patchRule struct {
	hundredths int64        // tokens for a patch, times 100
	modes      [details]box // by detail
}

// A box is what an image is made to fit.
type box struct {
	side   int64 // longest side in pixels
	budget int64 // most patches; 0: any number
}

const (
	patchSide = 32
	// mostPatches is where the provider refuses an image, so none costs more.
	mostPatches = 30_000
)

func (r patchRule) tokens(i Image) int64 {
	if i.Detail < OtherDetail {
		return ceilDiv(r.modes[i.Detail].patches(i.Width, i.Height)*r.hundredths, 100)
	}
	var most int64
	for d := range r.modes {
		most = max(most, r.tokens(Image{Width: i.Width, Height: i.Height, Detail: Detail(d)}))
	}
	return most
}

// most is what no image costs more than at that detail.
func (r patchRule) most(d Detail) int64 {
	patches := int64(mostPatches)
	if budget := r.modes[d].budget; budget > 0 {
		patches = budget
	}
	return ceilDiv(patches*r.hundredths, 100)
}

// patches is how many patches cover an image of that size, both sides more than zero, in the box. Where the guide
// speaks of whole pixels and does not say which, they are rounded up, so that it is never too few.
func (b box) patches(width, height int64) int64 {
	w, h := min(width, mostPixels), min(height, mostPixels)
	if long := max(w, h); long > b.side {
		w, h = ceilDiv(w*b.side, long), ceilDiv(h*b.side, long)
	}
	n := cover(w, h)
	if b.budget > 0 && n > b.budget {
		f := math.Sqrt(float64(patchSide*patchSide*b.budget) / (float64(w) * float64(h)))
		across, down := float64(w)*f/patchSide, float64(h)*f/patchSide
		f *= min(math.Floor(across)/across, math.Floor(down)/down)
		n = min(b.budget, cover(int64(float64(w)*f), int64(float64(h)*f)))
	}
	return min(n, mostPatches)
}

// mostPixels bounds a side, so that products of two fit an int64. It is what the largest of all formats can say.
const mostPixels = math.MaxUint32 >> 1

func cover(w, h int64) int64 {
	return ceilDiv(max(1, w), patchSide) * ceilDiv(max(1, h), patchSide)
}

// A tileRule charges for an image as such and for each square of 512 x 512 pixels that it needs once its shorter side
// has been made to fit.
type tileRule struct {
	base, tile int64 // tokens
	short      int64 // longest that the shorter side may be, in pixels
	// What high fidelity adds for a square and for any other image.
	square, oblong int64
}

const (
	tileSide   = 512
	tileBounds = 2048 // the square that an image is made to fit first
)

func (r tileRule) tokens(i Image) int64 {
	w, h := min(i.Width, mostPixels), min(i.Height, mostPixels)
	n := r.base
	if i.HighFidelity && w == h {
		n += r.square
	} else if i.HighFidelity {
		n += r.oblong
	}
	if i.Detail == LowDetail {
		return n
	}
	w, h = shrunk(w, h, max(w, h), tileBounds)
	w, h = shrunk(w, h, min(w, h), r.short)
	return n + r.tile*ceilDiv(w, tileSide)*ceilDiv(h, tileSide)
}

// shrunk is a size brought down so that side, one of its two, is at most limit; the other is rounded down, but never to
// nothing.
func shrunk(w, h, side, limit int64) (width, height int64) {
	if side <= limit {
		return w, h
	}
	return max(1, w*limit/side), max(1, h*limit/side)
}

// ceilDiv is a / b rounded up; a is not negative, and b more than zero.
func ceilDiv(a, b int64) int64 {
	if a == 0 {
		return 0
	}
	return (a-1)/b + 1
}
