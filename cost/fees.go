package cost

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Fees beyond these are mistakes. Providers state them for a thousand calls: $10 for one is such a figure in its place.
const (
	mostFee  = 5 * usd
	leastFee = usd / 1_000_000
)

// Check reports why a fee cannot be meant.
func (f Fee) Check() error {
	for _, of := range []struct {
		what   string
		amount NanoUSD
	}{{"call", f.Call}, {"session", f.Session}} {
		switch {
		case of.amount < 0:
			return fmt.Errorf("%v for one %s is negative: a fee is $0 or more", of.amount, of.what)
		case of.amount > mostFee:
			return fmt.Errorf("%v for one %s is more than %v: a fee is for one %s, not for a thousand", of.amount, of.what, mostFee, of.what)
		case of.amount > 0 && of.amount < leastFee:
			return fmt.Errorf("%v for one %s is less than %v: it must be in another unit; $0 is free", of.amount, of.what, leastFee)
		}
	}
	if f.Tokens < 0 || f.Tokens > mostFound {
		return fmt.Errorf("%d tokens for one call are none that a model reads: give a number from 0 to %d", f.Tokens, mostFound)
	}
	return nil
}

// mostFound is more than any model holds.
const mostFound = 10_000_000

// searchTools are the words for the tool that searches the web, with and without their dates.
var searchTools = []string{"web_search", "web_search_2025_08_26", "web_search_preview", "web_search_preview_2025_03_11"}

// toolTable is what prices.json says of tools that the provider runs.
type toolTable struct {
	Source string              `json:"source"`
	Except []string            `json:"except"` // parts of the names of models that take no tools
	Fees   map[string]toolFees `json:"fees"`
}

// taken says whether models of these names take tools.
func (t toolTable) taken(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(t.Except, func(part string) bool { return strings.Contains(name, part) })
	})
}

// toolFees are dollars for a tool.
type toolFees struct {
	Call          string `json:"call"`
	CallReasoning string `json:"call_reasoning"` // by a model that reasons; empty: like any other
	Session       string `json:"session"`
}

// fees are those of models that reason, or of others.
func (t toolTable) fees(reasoning bool) (map[string]Fee, error) {
	fees := make(map[string]Fee, len(t.Fees))
	for name, row := range t.Fees {
		call := row.Call
		if reasoning && row.CallReasoning != "" {
			call = row.CallReasoning
		}
		var fee Fee
		for to, dollars := range map[*NanoUSD]string{&fee.Call: call, &fee.Session: row.Session} {
			if dollars == "" {
				continue
			}
			amount, err := ParseUSD(dollars)
			if err != nil {
				return nil, fmt.Errorf("tools %s: %w", name, err)
			}
			*to = amount
		}
		if err := fee.Check(); err != nil {
			return nil, fmt.Errorf("tools %s: %w", name, err)
		}
		fees[name] = fee
	}
	return fees, nil
}

// fileFees are the fees of an entry of a price file: what it says of a search, which is the dearest of the sizes that it
// lists, and else those that are known of a model of that name.
func fileFees(fields map[string]any, known map[string]Fee) (map[string]Fee, error) {
	const field = "search_context_cost_per_query"
	sizes, _ := fields[field].(map[string]any)
	var search Fee
	stated := false
	for size, value := range sizes {
		if _, ok := value.(json.Number); !ok {
			continue
		}
		r, err := fileNumber(field+"."+size, value)
		if err != nil {
			return nil, err
		}
		search.Call, stated = max(search.Call, NanoUSD(roundedUp(r, int64(usd)))), true
	}
	if !stated {
		return known, nil
	}
	if err := search.Check(); err != nil {
		return nil, &absurdPrice{fmt.Errorf("%s: %w", field, err)}
	}
	fees := maps.Clone(known)
	if fees == nil {
		fees = make(map[string]Fee, len(searchTools))
	}
	for _, name := range searchTools {
		fees[name] = search
	}
	return fees, nil
}
