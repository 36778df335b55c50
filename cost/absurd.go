package cost

import (
	"fmt"
	"maps"
	"slices"
)

// Prices beyond these are mistakes: the dearest model ever listed by its maker cost $600 for a million tokens, the
// cheapest $0.0025. A price by token where one by million tokens is meant, or the other way round, is a million off.
const (
	mostPerMillion  = 5_000 * usd
	leastPerMillion = usd / 10_000
	mostPerImage    = 100 * usd * perMillion
	mostPerSecond   = 10 * usd * perMillion
)

// check reports the first price that cannot be meant.
func (c Column) check(tier string) error {
	if err := checkRates(c.Rates, tier); err != nil {
		return err
	}
	for _, above := range slices.Sorted(maps.Keys(c.Long)) {
		if above <= 0 {
			return fmt.Errorf("%sprices hold above %d tokens: give the number of tokens above which they do", tier, above)
		}
		if err := checkRates(c.Long[above], fmt.Sprintf("%sabove %d ", tier, above)); err != nil {
			return err
		}
	}
	return nil
}

// Near reports why a price cannot be meant for a model that is known to have another: it is some hundreds of times off, as
// one for a thousand tokens is.
func (p Price) Near(known Price) error {
	const most = 500
	for _, i := range []Item{Input, Output} {
		is, was := p.Rates[i], known.Rates[i]
		if is > 0 && was > 0 && (is/most >= was || was/most >= is) {
			return fmt.Errorf("%v: %v for a million tokens, where %v is known: it must be in another unit", i, is, was)
		}
	}
	return nil
}

func checkRates(rates map[Item]NanoUSD, where string) error {
	for i := range Items {
		rate, ok := rates[Item(i)]
		if !ok {
			continue
		}
		if err := Item(i).check(rate); err != nil {
			return fmt.Errorf("%s%s: %w", where, Item(i), err)
		}
	}
	return nil
}

// check reports why a rate cannot be meant, with the unit that it should be in.
func (i Item) check(rate NanoUSD) error {
	unit, most := "a million tokens", mostPerMillion
	switch i {
	case PerImage:
		unit, most = "one picture", mostPerImage
	case PerSecond:
		unit, most = "one second", mostPerSecond
	case PerCharacter:
		unit = "a million characters"
	}
	shown := rate
	if i == PerImage || i == PerSecond {
		shown = rate / perMillion
		most /= perMillion
	}
	switch {
	case rate < 0:
		return fmt.Errorf("%v for %s is negative: a price is $0 or more", shown, unit)
	case shown > most:
		return fmt.Errorf("%v for %s is more than %v: it must be in another unit", shown, unit, most)
	case rate > 0 && rate < leastPerMillion:
		return fmt.Errorf("%v for %s is less than %v: it must be in another unit; $0 is free", shown, unit, leastPerMillion)
	}
	return nil
}
