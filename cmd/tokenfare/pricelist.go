package main

import (
	"slices"

	yaml "go.yaml.in/yaml/v4"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy"
)

// maxPrices is the most bytes a price file may have; the public one has 1.5 MB.
const maxPrices = 64 << 20

// priceList is what is known of models and their prices: the built-in list, and in front of it the price file, if the
// configuration names one.
func (c *Config) priceList() (*cost.Catalog, error) {
	if c.catalog == nil {
		catalog, err := cost.DefaultCatalog()
		if err != nil {
			return nil, err
		}
		c.catalog = catalog
	}
	return c.catalog, nil
}

// decodePrices reads the price file that a path names, relative to this file.
func (c *Config) decodePrices(d *decoder, v *yaml.Node) {
	p, ok := d.text(v, "prices")
	if !ok {
		return
	}
	c.Prices, c.pricesAt = d.path(p), d.place(deref(v))
	d.read(c.Prices)
	text, err := readBounded(c.Prices, maxPrices)
	if err != nil {
		d.problem(v, "check the path (relative to this file) and its permissions", "cannot read the price file: %v", reason(err))
		return
	}
	catalog, err := c.priceList()
	if err != nil {
		return // compile reports it
	}
	if catalog, err = catalog.With(text); err != nil {
		d.problem(v, "mend the file, or take the newest model_prices_and_context_window.json from github.com/BerriAI/litellm", "the price file cannot be used: %v", err)
		return
	}
	c.catalog = catalog
}

// decodeUnpriced reads what is to be done with models whose price is not known.
func (c *Config) decodeUnpriced(d *decoder, v *yaml.Node) {
	switch d.choice(v, "unpriced", "refuse", "dearest", "free") {
	case "dearest":
		c.Unpriced = proxy.DearestUnpriced
	case "free":
		c.Unpriced = proxy.FreeUnpriced
	}
}

// verifyPrices finds models that are configured by name and whose price cannot be meant, be it in the price file or here.
func (c *Config) verifyPrices(out *problems) {
	catalog, err := c.priceList()
	if err != nil {
		return // compile reports it
	}
	absurd := map[string]string{}
	for _, s := range catalog.Skipped() {
		if s.Absurd {
			absurd[s.Name] = s.Reason
		}
	}
	for _, m := range c.Models {
		name, at := m.Pattern, m.at
		if m.Model != "" {
			name, at = m.Model, m.modelAt
		}
		if m.CountsAs != "" {
			name, at = m.CountsAs, m.countsAsAt
		}
		if m.Price != nil {
			if known := catalog.Model(name); known.Priced {
				if err := m.Price.Near(known.Price); err != nil {
					out.add(m.at, "write dollars per million tokens; if "+plainPattern(m.Pattern)+" is a model of your own, give it a name of its own", "model %s's price cannot be meant: %v", m.Pattern, err)
				}
			}
			continue
		}
		if why := absurd[name]; why != "" {
			out.add(at, "add price: { input: …, output: … } to model "+plainPattern(m.Pattern)+", or mend "+c.Prices, "the price of %s in the price file cannot be meant: %s", name, why)
		}
	}
}

// skippedOf lists what was not taken from the price file, or only those of some names.
func (c *Config) skippedOf(names []string) []cost.Skipped {
	if c.catalog == nil {
		return nil
	}
	var out []cost.Skipped
	for _, s := range c.catalog.Skipped() {
		if len(names) == 0 || slices.Contains(names, s.Name) {
			out = append(out, s)
		}
	}
	return out
}
