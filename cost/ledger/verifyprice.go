package ledger

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
)

// priceBook are the prices that begin rows name, as the ledger's cards state them.
type priceBook map[string]*cost.Price

// readPrices reads all cards. There is one for each price that was ever in force, so they are few.
func (v *verifier) readPrices(ctx context.Context) error {
	v.prices = priceBook{}
	return v.Prices(ctx, func(c PriceCard) error {
		if p, ok := readCard(c.Card); ok {
			v.prices[c.Version] = p
		}
		return nil
	})
}

// readCard reads a card, if it says nothing that is not known here: what a newer program means by that, it knows better.
func readCard(card string) (*cost.Price, bool) {
	var members struct{ Rates json.RawMessage }
	p := new(cost.Price)
	d := json.NewDecoder(strings.NewReader(card))
	d.DisallowUnknownFields()
	return p, d.Decode(p) == nil && json.Unmarshal([]byte(card), &members) == nil && members.Rates != nil
}

// reserves compares what an exchange had reserved with what its usage costs at most at its price, and reports whether that is so.
func (v *verifier) reserves(x *Exchange) bool {
	b := &x.Begin
	p := v.prices[b.Price]
	if p == nil || saturates(&b.Most, b.Reserved) {
		return false
	}
	for asked := range terms(p, b.Most.Images > 0) {
		if asked.Ceiling(boundOf(b.Most)) == b.Reserved {
			return true
		}
	}
	v.about(x, Difference{Kind: ReserveDiffers, Figure: "cost", Is: int64(b.Reserved), Should: int64(p.Ceiling(boundOf(b.Most))), Text: "at price " + b.Price})
	return false
}

// costs compares what an exchange was charged in money with what its usage costs at its price. As known, what it had reserved is what that
// price makes of it; corrected: it is not charged what its end row says.
func (v *verifier) costs(x *Exchange, a *Account, known, corrected bool, text string) {
	b := &x.Begin
	if !slices.Contains([]string{Reported, Counted, Unreported, Distrusted}, a.Basis) || saturates(&a.Usage, a.Cost) {
		return
	}
	p := v.prices[b.Price]
	if p == nil {
		if b.Price != "" {
			v.report.Unpriced++
		}
		if whole := a.Basis == Unreported || a.Basis == Distrusted; whole && !corrected && a.Cost < b.Reserved {
			v.about(x, Difference{Kind: CostDiffers, Figure: "cost", Is: int64(a.Cost), Should: int64(b.Reserved), Text: "at least"})
		}
		return
	}
	for asked := range terms(p, a.Usage.Images > 0) {
		// What a call asked for has no column, but shows in what it had reserved. Corrections are made at the price as it is listed.
		if known && !corrected && asked.Ceiling(boundOf(b.Most)) != b.Reserved {
			continue
		}
		if least, most := costWithin(&asked, x, a, corrected); a.Cost >= least && a.Cost <= most {
			return
		}
	}
	should, _ := costWithin(p, x, a, corrected)
	if text == "" {
		text = "at price " + b.Price
	}
	v.about(x, Difference{Kind: CostDiffers, Figure: "cost", Is: int64(a.Cost), Should: int64(should), Text: text})
}

// costWithin is what an account may cost at a price. It is one amount, but where rows do not say what that rests on.
func costWithin(p *cost.Price, x *Exchange, a *Account, corrected bool) (least, most cost.NanoUSD) {
	// Every draw is rounded by itself, and a crash may have taken some of several: it is no more than this, which is a millionth of a dollar.
	const rounding = 1000
	used := p.Cost(a.Usage)
	all := max(used, p.Ceiling(boundOf(a.Usage)))
	switch {
	case corrected || a.Basis == Reported || a.Basis == Counted:
		return used, used
	case a.Basis == Distrusted: // what was drawn is part of the usage, and may be less than was counted
		return max(used, p.Ceiling(boundOf(x.Begin.Most))), all
	case x.End.Ending == Crashed && a.Usage.Output > x.Begin.Most.Output:
		return all - rounding, all + rounding
	default:
		return all, all
	}
}

// terms are what a call's price may have been, beginning with the one that is listed: by the tier and the pictures that it asked for, which
// no row tells.
func terms(p *cost.Price, pictures bool) func(yield func(cost.Price) bool) {
	return func(yield func(cost.Price) bool) {
		if !yield(*p) {
			return
		}
		kinds := []cost.Price{*p}
		for i := range p.Pictures {
			if k := p.Pictures[i].PictureKind; pictures {
				kinds = append(kinds, p.ForPictures(cost.Pictures{N: 1, Quality: k.Quality, Width: k.Width, Height: k.Height}))
			}
		}
		for _, kind := range kinds {
			for tier := cost.Unstated; tier <= cost.OtherTier; tier++ {
				kind.Asked = tier
				if !yield(kind) {
					return
				}
			}
		}
	}
}

func boundOf(u cost.Usage) cost.Bound {
	return cost.Bound{Input: u.Input, Output: u.Output, Images: u.Images, Milliseconds: u.Milliseconds, Characters: u.Characters, Fees: u.Fees}
}

// saturates reports whether a figure is as large as rows have them, so that it may have been larger.
func saturates(u *cost.Usage, n cost.NanoUSD) bool {
	if n >= mostFigure || n <= -mostFigure {
		return true
	}
	for _, figure := range figures(u) {
		if *figure >= mostFigure || *figure <= -mostFigure {
			return true
		}
	}
	return false
}
