package main

import (
	"flag"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

const pricesHelp = `Print what models cost, as this program charges it, and where each price is from.

  tokenfare prices                          the built-in list
  tokenfare prices -config config.yaml      the models of a configuration: its own prices, then those of the file that
                                            prices names, then the built-in ones
  tokenfare prices gpt-5.6 whisper-1        every price of these: by item, size of the prompt and service tier
  tokenfare prices "gpt-4.1*"               a part of the list
  tokenfare prices -json                    a line of JSON for each model, in the words of price in a configuration
  tokenfare prices -config config.yaml -skipped
                                            what was not taken from the price file, and why

Prices are dollars per million tokens, and for one where it says per_.

Flags:
`

func runPrices(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("prices", flag.ContinueOnError)
	flags.SetOutput(stderr)
	path := flags.String("config", "", "configuration `FILE`")
	asJSON := flags.Bool("json", false, "print a line of JSON for each model")
	skipped := flags.Bool("skipped", false, "print what was not taken from the price file, and why")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), pricesHelp)
		flags.PrintDefaults()
	}
	names, code, proceed := interspersed(flags, args, stdout)
	if !proceed {
		return code
	}
	config := defaultConfig()
	if *path != "" {
		var err error
		if config, err = loadConfig(*path); err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
	}
	if *skipped && config.Prices == "" {
		fmt.Fprintln(stderr, "tokenfare prices: no price file is configured, so nothing was left out of one: say `prices: FILE` in the configuration")
		return 2
	}
	if *skipped {
		printSkipped(stdout, config.skippedOf(names))
		return 0
	}
	models, err := config.priced(names)
	if err == nil {
		switch {
		case *asJSON:
			err = printPricesJSON(stdout, models)
		case slices.ContainsFunc(names, func(name string) bool { return !strings.ContainsAny(name, "*?") }):
			err = printPriceDetails(stdout, models)
		default:
			err = printPrices(stdout, models)
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "tokenfare prices: %v\n", err)
		return 1
	}
	return 0
}

// priced lists the models there are to call, each with what it costs: those of the configuration, or of the built-in list
// where there is none. Names, and patterns for several, pick some; a name that is not in the list is looked up as a call
// for it would be.
func (c *Config) priced(names []string) ([]cost.Model, error) {
	catalog, err := c.priceList()
	if err != nil {
		return nil, err
	}
	all := catalog.Known()
	if c.root != nil {
		all = nil
		for _, o := range c.offers(catalog) {
			o.facts.Name = o.name
			if !slices.ContainsFunc(all, func(m cost.Model) bool { return m.Name == o.name && reflect.DeepEqual(m.Price, o.facts.Price) }) { // at another upstream
				all = append(all, o.facts)
			}
		}
	}
	if len(names) == 0 {
		return all, nil
	}
	var out []cost.Model
	for _, name := range names {
		before := len(out)
		for _, m := range all {
			if m.Name == name || strings.ContainsAny(name, "*?") && limit.Glob(name, m.Name) {
				out = append(out, m)
			}
		}
		if len(out) > before {
			continue
		}
		if strings.ContainsAny(name, "*?") {
			return nil, fmt.Errorf("no model matches %q: `tokenfare prices` lists them", name)
		}
		m, err := c.lookUp(name, catalog)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// lookUp is what a call for a model costs.
func (c *Config) lookUp(name string, catalog *cost.Catalog) (cost.Model, error) {
	m := proxy.ModelFacts(proxy.ModelSpec{}, proxy.UpstreamSpec{}, catalog, name)
	if c.root != nil {
		served := longest(c.models(), name)
		if served == nil {
			return cost.Model{}, fmt.Errorf("no model of the configuration is or matches %q: add it under models", name)
		}
		m = c.offer(*served, name, catalog).facts
	}
	m.Name = name
	return m, nil
}

func printSkipped(w io.Writer, skipped []cost.Skipped) {
	for _, s := range skipped {
		fmt.Fprintf(w, "%s: %s\n", s.Name, s.Reason)
	}
}
