package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
)

// picturesOf lists what pictures cost by their kind.
func picturesOf(p cost.Price) (out []string) {
	for _, r := range p.Pictures {
		out = append(out, r.String()+" "+dollarsOf(cost.PerImage, r.Rate))
	}
	return out
}

// picturesJSON is picturesOf in the words of a configuration, or nil.
func picturesJSON(p cost.Price) map[string]json.Number {
	if len(p.Pictures) == 0 {
		return nil
	}
	out := make(map[string]json.Number, len(p.Pictures))
	for _, r := range p.Pictures {
		out[r.String()] = plainDollars(dollarsOf(cost.PerImage, r.Rate))
	}
	return out
}

// feesOf lists what tools cost that the upstream runs, by name.
func feesOf(m cost.Model) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(m.Fees)) {
		fee := m.Fees[name]
		switch {
		case fee.Session == 0:
			out = append(out, name+" "+fee.Call.String()+" a call")
		case fee.Call == 0:
			out = append(out, name+" "+fee.Session.String()+" a session")
		default:
			out = append(out, name+" "+fee.Call.String()+" a call and "+fee.Session.String()+" a session")
		}
	}
	return out
}

// feesJSON is feesOf in the words of a configuration, or nil.
func feesJSON(m cost.Model) map[string]any {
	if len(m.Fees) == 0 {
		return nil
	}
	out := make(map[string]any, len(m.Fees))
	for name, fee := range m.Fees {
		call, session := plainDollars(fee.Call.String()), plainDollars(fee.Session.String())
		switch {
		case fee.Session == 0:
			out[name] = call
		case fee.Call == 0:
			out[name] = map[string]json.Number{"session": session}
		default:
			out[name] = map[string]json.Number{"call": call, "session": session}
		}
	}
	return out
}

// plainDollars is an amount without its dollar sign.
func plainDollars(amount string) json.Number { return json.Number(strings.TrimPrefix(amount, "$")) }
