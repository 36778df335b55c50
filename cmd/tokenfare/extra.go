package main

import (
	"errors"
	"fmt"
	"time"

	yaml "go.yaml.in/yaml/v4"

	"github.com/tokenfare/tokenfare/proxy/limit"
)

// extras reads one sentence or a list of them, each with its place.
func (d *decoder) extras(n *yaml.Node, what string) (list []limit.Extra, at []place) {
	d.sentences(n, what, "an extra", func(item *yaml.Node, s string) {
		e, err := limit.ParseExtra(s, d.zone)
		if err != nil {
			d.misread(item, s, err)
			return
		}
		list, at = append(list, e), append(at, d.place(item))
	})
	return list, at
}

// verifyExtra finds extras that raise none of their key's limits. Where these could not all be read, it judges none.
func (c *Config) verifyExtra(out *problems) {
	unread := map[string]bool{}
	known := map[string]bool{"": true}
	for _, p := range c.Plans {
		known[p.Name], unread[p.Name] = true, p.unread
	}
	for _, k := range c.Keys {
		if k.unread || unread[k.Plan] || !known[k.Plan] {
			continue
		}
		_, wrong := limit.Assign(c.limitsOf(k), k.Extra)
		for i, err := range wrong {
			if e, bad := errors.AsType[*limit.Error](err); bad {
				out.add(k.extraAt[i], e.Fix, "%s", e.Msg)
			}
		}
	}
}

// raised are the limits of a key at an instant: its plan's and its own, raised by the extras that hold then.
func (c *Config) raised(k KeyConfig, now time.Time) []limit.Limit {
	list := c.limitsOf(k)
	of, _ := limit.Assign(list, k.Extra)
	for i := range list {
		list[i], _ = list[i].Raised(of[i], now)
	}
	return list
}

// listExtra adds what each extra of a key raises.
func (r report) listExtra(rows [][2]string, k KeyConfig) [][2]string {
	list := r.config.limitsOf(k)
	of, _ := limit.Assign(list, k.Extra)
	label := "extra"
	for i, l := range list {
		for _, e := range of[i] {
			line := fmt.Sprintf("%q raised by %s until %s begins", l.Text, limit.FormatAmount(e.Unit, e.Amount), e.Until.Format(time.DateOnly))
			if !e.Holds(r.now) {
				line = fmt.Sprintf("%q no longer raised by %s: that ended on %s", l.Text, limit.FormatAmount(e.Unit, e.Amount), e.Until.Format(time.DateOnly))
			}
			rows = append(rows, [2]string{label, line})
			label = ""
		}
	}
	return rows
}

func (c *Config) endedExtras(now time.Time) (out []string) {
	for _, k := range c.Keys {
		for _, e := range k.Extra {
			if !e.Holds(now) {
				out = append(out, fmt.Sprintf("key %s: extra %q no longer holds: it ended on %s", k.Name, e.Text, e.Until.Format(time.DateOnly)))
			}
		}
	}
	return out
}
