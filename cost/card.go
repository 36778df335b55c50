package cost

import (
	"fmt"
	"maps"
	"slices"
)

// Card is a model's price as a list or a configuration states it: what is not stated is missing. Amounts are those of
// Rates, nano-dollars per million units.
type Card struct {
	Standard Column
	Batch    Column
	Flex     Column
	Priority Column
	Pictures map[PictureKind]NanoUSD // by piece, as PerImage, where that depends on their kind
	EU, US   int64                   // what a region multiplies prices by, in ten-thousandths; 0: not stated
}

// Column is what a Card states of one service tier.
type Column struct {
	Rates map[Item]NanoUSD
	Long  map[int64]map[Item]NanoUSD // by the tokens of input above which they hold
}

// Set states what an item costs to requests of more than above tokens of input, or, where that is 0, of any size.
func (c *Column) Set(above int64, i Item, rate NanoUSD) {
	if above > 0 {
		if c.Long == nil {
			c.Long = map[int64]map[Item]NanoUSD{}
		}
		if c.Long[above] == nil {
			c.Long[above] = map[Item]NanoUSD{}
		}
		c.Long[above][i] = rate
		return
	}
	if c.Rates == nil {
		c.Rates = map[Item]NanoUSD{}
	}
	c.Rates[i] = rate
}

func (c *Column) empty() bool { return len(c.Rates) == 0 && len(c.Long) == 0 }

// Price fills in what is missing, never too low. Within a column an item without a price costs what the rest of its kind
// costs: cached input what other input costs, speech what text costs; where only special kinds have a price, the general
// one is the dearest of them. Above a threshold, an item that has a price below it costs at least as many times more as
// the general item of its kind does. In other tiers, an item that has a standard price costs that in the batch and flex
// tiers, whose discount is not known, and priorityFactor times that in the priority tier.
//
// An error names the item whose price cannot be meant: negative, or so high or low that it must be in another unit.
func (c Card) Price() (Price, error) {
	for _, column := range []struct {
		name string
		of   Column
	}{{"", c.Standard}, {"batch ", c.Batch}, {"flex ", c.Flex}, {"priority ", c.Priority}} {
		if err := column.of.check(column.name); err != nil {
			return Price{}, err
		}
	}
	for _, uplift := range []int64{c.EU, c.US} {
		if uplift != 0 && (uplift < tenThousandths || uplift > maxUplift) {
			return Price{}, fmt.Errorf("a region multiplies prices by %d/10000: give a number from 1 to 100", uplift)
		}
	}
	for kind, rate := range c.Pictures {
		if err := PerImage.check(rate); err != nil {
			return Price{}, fmt.Errorf("pictures %v: %w", kind, err)
		}
	}
	p := Price{Schedule: c.Standard.standard(), EU: c.EU, US: c.US}
	p.Batch = c.tier(&p.Schedule, c.Batch, 1)
	p.Flex = c.tier(&p.Schedule, c.Flex, 1)
	p.Priority = c.tier(&p.Schedule, c.Priority, priorityFactor)
	if len(c.Pictures) > 0 {
		p = p.withPictures(c.Pictures)
	}
	return p, nil
}

// Stated reports whether the card says any price at all.
func (c Card) Stated() bool { return !c.Standard.empty() || len(c.Pictures) > 0 }

// standard fills in the standard column.
func (c *Column) standard() Schedule {
	s := Schedule{Rates: complete(c.Rates, func(Item, *Rates) (NanoUSD, bool) { return 0, false })}
	last := s.Rates
	for _, above := range slices.Sorted(maps.Keys(c.Long)) {
		last = complete(c.Long[above], func(i Item, soFar *Rates) (NanoUSD, bool) {
			parent, special := i.parent()
			if !special {
				return last[i], true
			}
			if _, priced := c.Rates[i]; !priced || s.Rates[parent] <= 0 {
				return 0, false
			}
			inProportion := s.Rates[i].scaled(int64(soFar[parent]), 1, uint64(s.Rates[parent]))
			return max(inProportion, soFar[parent]), true
		})
		s.Long = append(s.Long, LongRates{Above: above, Rates: last})
	}
	return s
}

// tier fills in another column; nil if it states nothing.
func (c Card) tier(standard *Schedule, column Column, factor NanoUSD) *Schedule {
	if column.empty() {
		return nil
	}
	// What an item costs here that is not stated, from what it costs in the standard tier.
	from := func(rates Rates, above int64) func(Item, *Rates) (NanoUSD, bool) {
		rates = rates.times(factor)
		return func(i Item, _ *Rates) (NanoUSD, bool) {
			_, special := i.parent()
			_, priced := c.Standard.Rates[i]
			_, pricedAbove := c.Standard.Long[above][i]
			return rates[i], !special || priced || pricedAbove
		}
	}
	s := &Schedule{Rates: complete(column.Rates, from(standard.Rates, 0))}
	thresholds := map[int64]bool{}
	for above := range c.Standard.Long {
		thresholds[above] = true
	}
	for above := range column.Long {
		thresholds[above] = true
	}
	for _, above := range slices.Sorted(maps.Keys(thresholds)) {
		s.Long = append(s.Long, LongRates{Above: above, Rates: complete(column.Long[above], from(Price{Schedule: *standard}.At(Standard, saturatingAdd(above, 1)), above))})
	}
	return s
}

// complete makes rates of what is stated: items first that others take their price from. What is not stated is what
// missing says; where that says nothing, what the rest of its kind costs.
func complete(stated map[Item]NanoUSD, missing func(i Item, soFar *Rates) (NanoUSD, bool)) Rates {
	var rates Rates
	fill := func(i Item) {
		rate, ok := stated[i]
		if !ok {
			rate, ok = missing(i, &rates)
		}
		if parent, special := i.parent(); !ok && special {
			rate = rates[parent]
		}
		rates[i] = rate
	}
	for i := range Items {
		fill(Item(i))
	}
	for _, general := range []struct {
		item Item
		kind func(Item) bool
	}{{Input, Item.IsInput}, {Output, Item.IsOutput}} {
		if _, ok := stated[general.item]; ok || rates[general.item] > 0 {
			continue
		}
		// Only special kinds have a price: what is not said to be of a kind may be of any of them.
		for i, rate := range rates {
			if general.kind(Item(i)) {
				rates[general.item] = max(rates[general.item], rate)
			}
		}
		for i := range Items {
			if i := Item(i); general.kind(i) && i != general.item {
				fill(i)
			}
		}
	}
	return rates
}
