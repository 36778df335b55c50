package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// misuse says what is wrong with the flags together, and returns what they say is to be charged, where that is the same for
// every call.
func (c *correction) misuse() (revision, error) {
	if c.flags.NArg() > 0 {
		return revision{}, fmt.Errorf("unexpected %q; calls are named by -id, and the configuration by -config", c.flags.Arg(0))
	}
	if err := c.misusedCalls(); err != nil {
		return revision{}, err
	}
	switch {
	case c.config == "":
		return revision{}, errors.New("name the configuration: -config config.yaml")
	case c.reason == "":
		return revision{}, errors.New("say why: -reason \"provider refunded\" is kept with the correction")
	case len(c.reason) > longestReason:
		return revision{}, fmt.Errorf("-reason is longer than %d bytes", longestReason)
	case c.dryRun && c.yes:
		return revision{}, errors.New("choose one of -dry-run and -yes")
	}
	return c.figure()
}

// misusedCalls says what is wrong with how calls are named.
func (c *correction) misusedCalls() error {
	ways := 0
	for _, given := range []bool{len(c.ids) > 0, c.file != "", c.unreported} {
		ways += boolInt(given)
	}
	if ways != 1 {
		return errors.New("say which calls: one of -id, -file and -unreported   (tokenfare ledger correct --help)")
	}
	for i, id := range c.ids {
		if _, err := ledger.ParseID(id); err != nil {
			return fmt.Errorf("-id: %w", err)
		}
		if slices.Contains(c.ids[:i], id) {
			return fmt.Errorf("-id: %s is named twice", id)
		}
	}
	if c.unreported {
		if c.since == "" {
			return errors.New("-unreported wants an interval: -since \"2026-11-21 14:00\" -until \"2026-11-21 14:30\"")
		}
		return nil
	}
	for _, f := range [][2]string{{"since", c.since}, {"until", c.until}, {"key", c.key}, {"model", c.model}, {"upstream", c.upstream}, {"ending", c.ending}} {
		if f[1] != "" {
			return fmt.Errorf("-%s goes with -unreported", f[0])
		}
	}
	return nil
}

// figure is what is to be charged.
func (c *correction) figure() (r revision, err error) {
	ways := boolInt(c.nothing) + boolInt(c.counted) + boolInt(c.usage != "" || c.cost != "")
	switch {
	case c.file != "" && ways > 0:
		return r, errors.New("the lines of -file say what each call is charged: leave out -charge-nothing, -counted, -usage and -cost")
	case c.file != "":
		return r, nil
	case ways != 1:
		return r, errors.New("say what to charge: one of -charge-nothing, -counted, -usage LIST and -cost AMOUNT")
	case (c.usage != "" || c.cost != "") && (c.unreported || len(c.ids) > 1):
		return r, errors.New("-usage and -cost are for one call: name it by -id, or several with figures of their own in a -file")
	case c.nothing:
		r.Charge = chargeNothing
	case c.counted:
		r.Charge = chargeCounted
	}
	if c.usage != "" {
		if r.Usage, err = parseUsage(c.usage); err != nil {
			return r, fmt.Errorf("-usage: %w", err)
		}
		if u := r.Usage.over(cost.Usage{}); u != u.Normal() {
			return r, errors.New("-usage: no part is more than its whole: cached and cache_write are parts of input, reasoning is one of output")
		}
	}
	if c.cost != "" {
		if _, err := cost.ParseUSD(c.cost); err != nil {
			return r, fmt.Errorf("-cost: %w", err)
		}
		r.Cost = &c.cost
	}
	return r, nil
}

// parseUsage reads a list such as input=812,output=96.
func parseUsage(text string) (*usageFigures, error) {
	f := &usageFigures{}
	images, milliseconds, characters := new(int64), new(int64), new(int64)
	names := []string{"input", "cached", "cache_write", "output", "reasoning", "images", "milliseconds", "characters"}
	to := map[string]*int64{
		"input": &f.Input, "cached": &f.CachedInput, "cache_write": &f.CacheWrite, "output": &f.Output, "reasoning": &f.Reasoning,
		"images": images, "milliseconds": milliseconds, "characters": characters,
	}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(strings.TrimSpace(part), "=")
		n, err := strconv.ParseInt(value, 10, 64)
		switch {
		case to[name] == nil:
			return nil, fmt.Errorf("there is no figure %q: %s", name, suggest(name, names))
		case !found || err != nil || n < 0 || n > 1<<50:
			return nil, fmt.Errorf("%s is no number of tokens: write %s=812", name, name)
		case seen[name]:
			return nil, fmt.Errorf("%s is given twice", name)
		}
		seen[name], *to[name] = true, n
	}
	for name, pointer := range map[string]**int64{"images": &f.Images, "milliseconds": &f.Milliseconds, "characters": &f.Characters} {
		if seen[name] {
			*pointer = to[name]
		}
	}
	return f, nil
}
