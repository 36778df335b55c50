package cost

import (
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A price file has an entry for each kind of picture a model makes: hd/1024-x-1792/dall-e-3, behind what names the
// vendor, if any. What else a name may hold, such as 50-steps/, is not a kind of ours.
var (
	pictureEntry = regexp.MustCompile(`^((?:[^/]+/)*?)(?:(low|medium|high|standard|hd)/)?([0-9]{1,5})-?x-?([0-9]{1,5})/([^/]+)$`)
	pictureSize  = regexp.MustCompile(`(?:^|/)([0-9]{1,5})-?x-?([0-9]{1,5})(?:/|$)`)
)

// filePictures are the prices of kinds of picture that a file's entries state, by model.
type filePictures map[string]map[PictureKind]NanoUSD

// add takes an entry that has been read. One that is free is not believed: the public list has such where it does not
// know better.
func (f filePictures) add(name string, m Model) {
	parts := pictureEntry.FindStringSubmatch(name)
	rate := m.Price.Rates[PerImage]
	if parts == nil || rate <= 0 || m.Price.byToken() {
		return
	}
	vendor, quality, model := parts[1], parts[2], parts[5]
	kind, err := ParsePictureKind(strings.TrimPrefix(quality+"/", "/") + parts[3] + "x" + parts[4])
	if err != nil {
		return
	}
	if f[vendor+model] == nil {
		f[vendor+model] = map[PictureKind]NanoUSD{}
	}
	f[vendor+model][kind] = rate
}

// fold gives models the prices of the kinds of picture they make, known or not by an entry of their own. A model that
// bills its pictures by token has the same price stated twice, and keeps that by token.
func (f filePictures) fold(into *Catalog) {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		m := into.Model(name)
		if m.Price.byToken() {
			continue
		}
		if m.Name != name || !m.Priced {
			m.Name, m.Price = name, Price{}
			m.limits(0, 0, false)
		}
		m.Price, m.Priced, m.Source = m.Price.withPictures(f[name]), true, FromFile
		into.models[name] = m
	}
}

// byToken reports whether output is billed by token.
func (p *Price) byToken() bool { return p.dearest(p.Rates.output()).rate > 0 }

// raisedTo is the prices of kinds of picture, none lower than rate.
func raisedTo(rate NanoUSD, kinds []PictureRate) map[PictureKind]NanoUSD {
	raised := make(map[PictureKind]NanoUSD, len(kinds))
	for _, k := range kinds {
		raised[k.PictureKind] = max(k.Rate, rate)
	}
	return raised
}

// readPixels reads the price of a picture by its pixels, where the entry's name says how many there are.
func (c *Card) readPixels(name string, fields map[string]any) error {
	size := pictureSize.FindStringSubmatch(name)
	if _, ok := c.Standard.Rates[PerImage]; ok || size == nil {
		return nil
	}
	width, _ := strconv.ParseInt(size[1], 10, 64)
	height, _ := strconv.ParseInt(size[2], 10, 64)
	for _, field := range []string{"input_cost_per_pixel", "output_cost_per_pixel"} {
		if fields[field] == nil {
			continue
		}
		r, err := fileNumber(field, fields[field])
		if err != nil {
			return err
		}
		pixels := roundedUp(shortestProduct(r, lastDigit(fields[field]), width*height), int64(usd)*perMillion)
		c.Standard.Set(0, PerImage, saturatingAdd(c.Standard.Rates[PerImage], NanoUSD(pixels)))
	}
	return nil
}

// shortestProduct is quotient times n, where quotient was made by dividing a price by n and cutting it off, or rounding
// it, at a digit worth last: the shortest decimal that this can have been of, and never less than quotient times n.
// 0.0000000763 for 1,048,576 pixels is $0.08, and not the $0.0799… of the product.
func shortestProduct(quotient, last *big.Rat, n int64) *big.Rat {
	least := new(big.Rat).Mul(quotient, ratOf(n))
	most := new(big.Rat).Add(least, new(big.Rat).Mul(last, ratOf(n)))
	const mostDigits = 15
	ten, scale := big.NewInt(10), big.NewInt(1)
	for range mostDigits {
		scaled := new(big.Rat).Mul(least, new(big.Rat).SetInt(scale))
		whole, rest := new(big.Int).QuoRem(scaled.Num(), scaled.Denom(), new(big.Int))
		if rest.Sign() > 0 {
			whole.Add(whole, big.NewInt(1))
		}
		if up := new(big.Rat).SetFrac(whole, scale); up.Cmp(most) < 0 {
			return up
		}
		scale = new(big.Int).Mul(scale, ten)
	}
	return least
}
