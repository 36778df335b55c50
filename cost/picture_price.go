package cost

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// PictureKind is what the price of a picture may depend on, where pictures are billed by piece.
type PictureKind struct {
	Quality       Quality // AutoQuality: any
	Width, Height int64   // in pixels
}

// PictureRate is what a picture of some kind costs, as Rates have it of PerImage.
type PictureRate struct {
	PictureKind
	Rate NanoUSD
}

// ParsePictureKind reads "hd/1024x1792", or "512x512" where a model knows one quality.
func ParsePictureKind(s string) (PictureKind, error) {
	var k PictureKind
	size := s
	if quality, rest, ok := strings.Cut(s, "/"); ok {
		if k.Quality, size = QualityNamed(quality), rest; quality == "" || k.Quality == OtherQuality {
			return k, fmt.Errorf("%.40q begins with no quality: use one of %s", s, strings.Join(qualityNames[1:], ", "))
		}
	}
	width, height, _ := strings.Cut(size, "x")
	w, errW := strconv.ParseUint(width, 10, 16)
	h, errH := strconv.ParseUint(height, 10, 16)
	if errW != nil || errH != nil || w == 0 || h == 0 {
		return k, fmt.Errorf("%.40q is no kind of picture: write it like standard/1024x1024, or 1024x1024", s)
	}
	k.Width, k.Height = int64(w), int64(h)
	return k, nil
}

// String is the kind as ParsePictureKind reads it.
func (k PictureKind) String() string {
	size := fmt.Sprintf("%dx%d", k.Width, k.Height)
	if k.Quality == AutoQuality {
		return size
	}
	return k.Quality.String() + "/" + size
}

// withPictures is the price with those of some kinds of picture in front of what it knows of others. A picture of a kind
// that is not listed costs what the dearest does.
func (p Price) withPictures(kinds map[PictureKind]NanoUSD) Price {
	all := map[PictureKind]NanoUSD{}
	for _, known := range p.Pictures {
		all[known.PictureKind] = known.Rate
	}
	maps.Copy(all, kinds)
	most := p.Rates[PerImage]
	p.Pictures = nil
	for kind, rate := range all {
		p.Pictures = append(p.Pictures, PictureRate{kind, rate})
		most = max(most, rate)
	}
	slices.SortFunc(p.Pictures, func(a, b PictureRate) int {
		return cmp.Or(cmp.Compare(a.Quality, b.Quality), cmp.Compare(a.Width, b.Width), cmp.Compare(a.Height, b.Height))
	})
	return p.changed(func(r *Rates) { r[PerImage] = max(r[PerImage], most) })
}

// ForPictures is the price of a call that makes such pictures: a picture costs what its kind does. What a request leaves
// open is as dall-e chooses it: the standard quality and a square of 1024 pixels, where the model has them; else, and
// for a kind that is not listed, it is the dearest that it can be.
func (p Price) ForPictures(asked Pictures) Price {
	most := p.Rates[PerImage]
	rate, ok := p.pictureRate(asked)
	if !ok || most <= 0 || rate == most {
		return p
	}
	return p.changed(func(r *Rates) { r[PerImage] = r[PerImage].scaled(int64(rate), 1, uint64(most)) })
}

// pictureRate is the dearest of the kinds listed that the pictures may be of.
func (p *Price) pictureRate(asked Pictures) (most NanoUSD, ok bool) {
	has := func(fits func(k PictureKind) bool) bool {
		return slices.ContainsFunc(p.Pictures, func(r PictureRate) bool { return fits(r.PictureKind) })
	}
	if asked.Quality == AutoQuality && has(func(k PictureKind) bool { return k.Quality == StandardQuality }) {
		asked.Quality = StandardQuality
	}
	quality := func(k PictureKind) bool {
		return k.Quality == AutoQuality || asked.Quality == AutoQuality || k.Quality == asked.Quality
	}
	const usual = 1024
	sized := asked.Width > 0 && asked.Height > 0
	if !sized && has(func(k PictureKind) bool { return quality(k) && k.Width == usual && k.Height == usual }) {
		asked.Width, asked.Height, sized = usual, usual, true
	}
	for _, r := range p.Pictures {
		if quality(r.PictureKind) && (!sized || r.Width == asked.Width && r.Height == asked.Height) {
			most, ok = max(most, r.Rate), true
		}
	}
	return most, ok
}

// changed is the price with the rates of every tier and size changed, in copies of what prices share.
func (p Price) changed(change func(r *Rates)) Price {
	schedule := func(s Schedule) Schedule {
		change(&s.Rates)
		s.Long = slices.Clone(s.Long)
		for i := range s.Long {
			change(&s.Long[i].Rates)
		}
		return s
	}
	p.Schedule = schedule(p.Schedule)
	for _, tier := range []**Schedule{&p.Batch, &p.Flex, &p.Priority} {
		if *tier != nil {
			s := schedule(**tier)
			*tier = &s
		}
	}
	return p
}
