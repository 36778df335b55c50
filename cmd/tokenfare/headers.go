package main

import (
	"strings"

	yaml "go.yaml.in/yaml/v4"

	"github.com/tokenfare/tokenfare/proxy/upstream"
)

// headers reads what is sent to an upstream besides what every upstream is sent: callers' headers by their names, and headers
// with values of the operator's own, which may be secrets.
func (d *decoder) headers(n *yaml.Node, what string) (forward []string, set map[string]string) {
	d.members(n, what, []member{
		{"forward", func(v *yaml.Node) {
			names, at := d.texts(v, what+" to forward")
			for i, name := range names {
				if err := upstream.CheckForward(name); err != nil {
					d.out.add(at[i], "leave it out", "%v", err)
					continue
				}
				forward = append(forward, name)
			}
		}},
		{"set", func(v *yaml.Node) {
			set = map[string]string{}
			d.entries(v, what+" to set", func(k, v *yaml.Node) {
				if err := upstream.CheckSet(k.Value); err != nil {
					d.hide(v)
					fix := "leave it out"
					if strings.EqualFold(k.Value, "Authorization") || strings.EqualFold(k.Value, "Api-Key") {
						fix += "; the upstream's key stands under `key:`"
					}
					d.problem(k, fix, "%v", err)
					return
				}
				if secretName.MatchString(k.Value) {
					d.hide(v)
				}
				value, _ := d.text(v, what+" to set: "+k.Value)
				if err := upstream.CheckValue(value); err != nil {
					d.problem(v, "write it on one line", "%v", err)
					return
				}
				if value != "" {
					set[k.Value] = value
				}
			})
		}},
	})
	return forward, set
}
