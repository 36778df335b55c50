package main

import (
	"slices"

	yaml "go.yaml.in/yaml/v4"

	"github.com/tokenfare/tokenfare/cost"
)

// price reads dollars per million tokens, or for one where the name says so; what else is read says more of the same
// for other tiers and sizes:
//
//	price:
//	  input: $5
//	  cached_input: $0.50
//	  output: $30
//	  long: [{ above: 272k, input: $10, cached_input: $1, output: $45 }]
//	  flex: { input: $2.50, cached_input: $0.25, output: $15 }
//	  pictures: { standard/1024x1024: $0.04, hd/1024x1024: $0.08 }
func (d *decoder) price(n *yaml.Node, what string) *cost.Price {
	var card cost.Card
	what += "'s price"
	before := len(d.out.list)
	tier := func(name string, to *cost.Column) member {
		return member{name, func(v *yaml.Node) { d.members(v, what+"."+name, d.column(what+"."+name, to)) }}
	}
	d.members(n, what, append(
		d.column(what, &card.Standard),
		member{"pictures", func(v *yaml.Node) { card.Pictures = d.pictures(v, what+".pictures") }},
		tier("batch", &card.Batch), tier("flex", &card.Flex), tier("priority", &card.Priority),
	))
	if len(d.out.list) > before {
		return nil
	}
	has := func(i cost.Item) bool { _, ok := card.Standard.Rates[i]; return ok }
	byUnit := len(card.Pictures) > 0 || slices.ContainsFunc([]cost.Item{cost.PerImage, cost.PerSecond, cost.PerCharacter}, has)
	if !byUnit && (!has(cost.Input) || !has(cost.Output)) {
		d.problem(n, "write price: { input: $0.25, output: $2 }, in dollars per million tokens", "%s needs both input and output", what)
		return nil
	}
	p, err := card.Price()
	if err != nil {
		d.problem(n, "write dollars per million tokens, for example input: $2.50; per_image, per_second and per_character are for one", "%s cannot be meant: %v", what, err)
		return nil
	}
	return &p
}

// pictures reads what pictures cost by their kind.
func (d *decoder) pictures(n *yaml.Node, what string) map[cost.PictureKind]cost.NanoUSD {
	kinds := map[cost.PictureKind]cost.NanoUSD{}
	d.entries(n, what, func(k, v *yaml.Node) {
		kind, err := cost.ParsePictureKind(k.Value)
		if err != nil {
			d.problem(k, "write a quality and a size in pixels, such as hd/1024x1792, or the size alone", "this is not a kind of picture")
			return
		}
		kinds[kind] = d.money(v, what+"."+k.Value, cost.PerImage)
	})
	return kinds
}

// column reads the items of one tier, and what they cost above thresholds.
func (d *decoder) column(what string, to *cost.Column) []member {
	return append(d.rates(what, 0, to), member{"long", func(v *yaml.Node) {
		steps := []*yaml.Node{deref(v)}
		if steps[0].Kind == yaml.SequenceNode {
			steps = steps[0].Content
		}
		for _, step := range steps {
			d.longRates(step, what+".long", to)
		}
	}})
}

// longRates reads { above: 272k, input: $10, ... }.
func (d *decoder) longRates(n *yaml.Node, what string, to *cost.Column) {
	var above int64
	read := map[cost.Item]cost.NanoUSD{}
	one := cost.Column{Rates: read}
	before := len(d.out.list)
	d.members(n, what, append(d.rates(what, 0, &one), member{"above", func(v *yaml.Node) { above = d.count(v, what+".above") }}))
	if above == 0 && len(d.out.list) == before {
		d.problem(n, "write long: [{ above: 272k, input: $10, output: $45 }]", "%s does not say above how many tokens it holds", what)
	}
	for i, rate := range read {
		to.Set(above, i, rate)
	}
}

// rates reads what each item costs.
func (d *decoder) rates(what string, above int64, to *cost.Column) []member {
	members := make([]member, 0, cost.Items)
	for i := range cost.Items {
		item := cost.Item(i)
		members = append(members, member{item.String(), func(v *yaml.Node) {
			to.Set(above, item, d.money(v, what+"."+item.String(), item))
		}})
	}
	return members
}
