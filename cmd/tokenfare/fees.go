package main

import (
	"regexp"

	yaml "go.yaml.in/yaml/v4"

	"github.com/tokenfare/tokenfare/cost"
)

// toolType is the provider's word for a tool that it runs.
var toolType = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// fees reads what tools cost that the upstream runs, by their type: dollars for a call, or { call, session,
// tokens }: what a run adds to the input.
//
//	tools: { web_search: $0.01, mcp: $0, code_interpreter: { session: $0.03 } }
func (d *decoder) fees(n *yaml.Node, what string) map[string]cost.Fee {
	fees := map[string]cost.Fee{}
	d.entries(n, what, func(k, v *yaml.Node) {
		if !toolType.MatchString(k.Value) {
			d.problem(k, "write the type as requests have it, such as web_search or mcp", "this is not the type of a tool")
			return
		}
		if k.Value == "function" || k.Value == "custom" {
			d.problem(k, "remove it", "tools of the type %s run at the caller's, so nobody charges for them", k.Value)
			return
		}
		of := what + "." + k.Value
		before := len(d.out.list)
		var fee cost.Fee
		if m := deref(v); m.Kind == yaml.MappingNode {
			if len(m.Content) == 0 {
				d.problem(v, "write $0, or { call: $0.01 }, or { session: $0.03 }", "%s says no amount", of)
			}
			d.members(v, of, []member{
				{"call", func(v *yaml.Node) { fee.Call = d.fee(v, of+".call") }},
				{"session", func(v *yaml.Node) { fee.Session = d.fee(v, of+".session") }},
				{"tokens", func(v *yaml.Node) { fee.Tokens = d.count(v, of+".tokens") }},
			})
		} else {
			fee.Call = d.fee(v, of)
		}
		if len(d.out.list) > before {
			return
		}
		if err := fee.Check(); err != nil {
			d.problem(v, "write dollars for one, for example $0.01", "%s cannot be meant: %v", of, err)
			return
		}
		fees[k.Value] = fee
	})
	return fees
}

// fee reads dollars for one of something, zero allowed.
func (d *decoder) fee(n *yaml.Node, what string) cost.NanoUSD {
	s, ok := d.text(n, what)
	if !ok {
		return 0
	}
	v, err := cost.ParseUSD(s)
	if err != nil {
		d.problem(n, "write dollars for one, for example $0.01", "%s is not an amount of money", what)
	}
	return v
}
