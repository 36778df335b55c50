package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/tokenfare/tokenfare/cost"
)

// printPrices prints a line for each model: the prices most people ask for, and what else there is.
func printPrices(out io.Writer, models []cost.Model) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MODEL\tINPUT\tCACHED\tWRITE\tOUTPUT\tSOURCE\tALSO")
	for _, m := range models {
		if !m.Priced {
			fmt.Fprintf(w, "%s\t-\t-\t-\t-\t%s\tno price is known\n", m.Name, m.Source)
			continue
		}
		fmt.Fprint(w, m.Name)
		r := m.Price.Rates
		byUnit := r[cost.PerImage]+r[cost.PerSecond]+r[cost.PerCharacter] > 0 && r[cost.Input] == 0
		for _, i := range []cost.Item{cost.Input, cost.CachedInput, cost.CacheWrite, cost.Output} {
			if byUnit {
				fmt.Fprint(w, "\t-")
				continue
			}
			fmt.Fprint(w, "\t"+dollarsOf(i, r[i]))
		}
		fmt.Fprintf(w, "\t%s\t%s\n", m.Source, strings.Join(also(m), ", "))
	}
	fmt.Fprintln(w, "\nDollars per million tokens. `tokenfare prices MODEL` prints every price of a model.")
	return w.Flush()
}

// also names the prices that a line has no column for.
func also(m cost.Model) (out []string) {
	p := m.Price
	for i := range cost.Items {
		switch item := cost.Item(i); {
		case item == cost.Input || item == cost.CachedInput || item == cost.CacheWrite || item == cost.Output:
		case item == cost.PerImage && len(p.Pictures) > 0:
			out = append(out, "pictures up to "+dollarsOf(item, p.Rates[item]))
		case item.PerUnit() && p.Rates[item] > 0:
			out = append(out, item.String()+" "+dollarsOf(item, p.Rates[item]))
		case item == cost.AudioInput || item == cost.ImageInput:
			if p.Rates[item] != p.Rates[cost.Input] {
				out = append(out, item.String()+" "+dollarsOf(item, p.Rates[item]))
			}
		case item == cost.AudioOutput || item == cost.ImageOutput || item == cost.Reasoning:
			if p.Rates[item] != p.Rates[cost.Output] {
				out = append(out, item.String()+" "+dollarsOf(item, p.Rates[item]))
			}
		}
	}
	for _, long := range p.Long {
		out = append(out, "above "+tokensShort(long.Above))
	}
	for _, t := range tiersOf(p)[1:] {
		out = append(out, t.tier.String())
	}
	out = append(out, regionsOf(p)...)
	if len(m.Fees) > 0 {
		out = append(out, "tools")
	}
	return out
}

// tierPrices are the prices of one tier.
type tierPrices struct {
	tier     cost.Tier
	schedule *cost.Schedule
}

// tiersOf lists the tiers whose price is known, the standard one first.
func tiersOf(p cost.Price) []tierPrices {
	out := []tierPrices{{cost.Standard, &p.Schedule}}
	for _, t := range []tierPrices{{cost.Batch, p.Batch}, {cost.Flex, p.Flex}, {cost.Priority, p.Priority}} {
		if t.schedule != nil {
			out = append(out, t)
		}
	}
	return out
}

func regionsOf(p cost.Price) (out []string) {
	for _, r := range []struct {
		name string
		by   int64
	}{{"eu", p.EU}, {"us", p.US}} {
		if r.by > 0 {
			out = append(out, r.name+" x "+multiplier(r.by))
		}
	}
	return out
}

// printNotTaken says why a price file's entry is not what holds.
func printNotTaken(out io.Writer, m cost.Model) {
	if m.Skipped != "" && m.Source != cost.FromConfig {
		fmt.Fprintf(out, "  The price file has it, and was not followed: %s.\n", m.Skipped)
	}
}

// multiplier writes ten-thousandths as a decimal: 11000 is 1.1.
func multiplier(n int64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%d.%04d", n/10_000, n%10_000), "0"), ".")
}

// printPriceDetails prints every price of every model: a line for each tier and size of prompt, a column for each item
// whose price is its own.
func printPriceDetails(out io.Writer, models []cost.Model) error {
	for n, m := range models {
		if n > 0 {
			fmt.Fprintln(out)
		}
		if !m.Priced {
			fmt.Fprintf(out, "%s: no price is known. Where limits are in dollars it is refused; say `price:` or `unpriced:` in the configuration.\n", m.Name)
			printNotTaken(out, m)
			continue
		}
		fmt.Fprintf(out, "%s (%s)\n", m.Name, m.Source)
		printNotTaken(out, m)
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		items := ownItems(m.Price)
		fmt.Fprint(w, "  tier\tinput tokens\t")
		for _, i := range items {
			fmt.Fprint(w, i.String()+"\t")
		}
		fmt.Fprintln(w)
		for _, t := range tiersOf(m.Price) {
			line := func(size string, r cost.Rates) {
				fmt.Fprintf(w, "  %s\t%s\t", t.tier, size)
				for _, i := range items {
					fmt.Fprint(w, dollarsOf(i, r[i])+"\t")
				}
				fmt.Fprintln(w)
			}
			size := "any"
			if len(t.schedule.Long) > 0 {
				size = "up to " + tokensShort(t.schedule.Long[0].Above)
			}
			line(size, t.schedule.Rates)
			for _, long := range t.schedule.Long {
				line("above "+tokensShort(long.Above), long.Rates)
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
		for _, more := range []struct {
			what string
			list []string
		}{{"pictures", picturesOf(m.Price)}, {"tools", feesOf(m)}, {"regions", regionsOf(m.Price)}} {
			if len(more.list) > 0 {
				fmt.Fprintf(out, "  %s: %s\n", more.what, strings.Join(more.list, ", "))
			}
		}
		if m.Price.Uplift > 0 || m.Price.Asked != cost.Unstated {
			fmt.Fprintf(out, "  the upstream: region x %s, service tier %s\n", multiplier(max(10_000, m.Price.Uplift)), m.Price.Asked)
		}
	}
	fmt.Fprintln(out, "\nDollars per million tokens, and for one where it says per_. A tier that is not listed: batch and flex cost as default does, priority three times as much.")
	return nil
}

// ownItems are the items that cost something else than the rest of their kind does, in any line.
func ownItems(p cost.Price) (out []cost.Item) {
	for i := range cost.Items {
		item := cost.Item(i)
		own := false
		for _, t := range tiersOf(p) {
			for _, r := range append([]cost.LongRates{{Rates: t.schedule.Rates}}, t.schedule.Long...) {
				switch {
				case item == cost.Input || item == cost.Output:
					own = own || r.Rates[item] > 0 || r.Rates[cost.PerImage]+r.Rates[cost.PerSecond]+r.Rates[cost.PerCharacter] == 0
				case item.IsInput():
					own = own || r.Rates[item] != r.Rates[cost.Input]
				case item.IsOutput():
					own = own || r.Rates[item] != r.Rates[cost.Output]
				default:
					own = own || r.Rates[item] > 0
				}
			}
		}
		if own {
			out = append(out, item)
		}
	}
	return out
}

// dollarsOf writes what an item costs as people state it, exactly: $2.50 a million tokens, $0.04 a picture.
func dollarsOf(i cost.Item, rate cost.NanoUSD) string {
	if !i.PerUnit() {
		return rate.String()
	}
	const whole = 1_000_000_000_000_000 // rates are billionths for a million
	fraction := strings.TrimRight(fmt.Sprintf("%015d", rate%whole), "0")
	return fmt.Sprintf("$%d.%s", rate/whole, fraction+strings.Repeat("0", max(0, 2-len(fraction))))
}

// tokensShort writes a threshold: 272k, or 32768.
func tokensShort(n int64) string {
	if n%1000 == 0 {
		return strconv.FormatInt(n/1000, 10) + "k"
	}
	return strconv.FormatInt(n, 10)
}

// printPricesJSON prints an object for each model, on a line of its own.
func printPricesJSON(out io.Writer, models []cost.Model) error {
	encoder := json.NewEncoder(out)
	for _, m := range models {
		line := struct {
			Model  string         `json:"model"`
			Source string         `json:"source"`
			Priced bool           `json:"priced"`
			Price  map[string]any `json:"price,omitempty"`
			Tools  map[string]any `json:"tools,omitempty"`
			EU     json.Number    `json:"eu,omitempty"`
			US     json.Number    `json:"us,omitempty"`
		}{Model: m.Name, Source: m.Source.String(), Priced: m.Priced, Tools: feesJSON(m)}
		if m.Priced {
			line.Price = scheduleJSON(m.Price.Schedule)
			if pictures := picturesJSON(m.Price); pictures != nil {
				line.Price["pictures"] = pictures
			}
			for _, t := range tiersOf(m.Price)[1:] {
				line.Price[t.tier.String()] = scheduleJSON(*t.schedule)
			}
			if m.Price.EU > 0 {
				line.EU = json.Number(multiplier(m.Price.EU))
			}
			if m.Price.US > 0 {
				line.US = json.Number(multiplier(m.Price.US))
			}
		}
		if err := encoder.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

func scheduleJSON(s cost.Schedule) map[string]any {
	rates := func(r cost.Rates) map[string]any {
		out := map[string]any{}
		for i, rate := range r {
			if item := cost.Item(i); rate > 0 || !item.PerUnit() {
				out[item.String()] = plainDollars(dollarsOf(item, rate))
			}
		}
		return out
	}
	out := rates(s.Rates)
	var long []map[string]any
	for _, l := range s.Long {
		step := rates(l.Rates)
		step["above"] = l.Above
		long = append(long, step)
	}
	if long != nil {
		out["long"] = long
	}
	return out
}
