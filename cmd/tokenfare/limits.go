package main

import (
	"errors"
	"strings"

	yaml "go.yaml.in/yaml/v4"

	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// limits reads one sentence or a list of them, each with its place. none is true for the word "none".
func (d *decoder) limits(n *yaml.Node, what string) (list []limit.Limit, at []place, none bool) {
	n = deref(n)
	if n.Kind == yaml.ScalarNode && strings.EqualFold(strings.TrimSpace(n.Value), "none") {
		return nil, nil, true
	}
	if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		d.problem(n, "write at least one limit, or `limits: none`", "%s is empty", what)
	}
	d.sentences(n, what, "a limit", func(item *yaml.Node, s string) {
		if strings.EqualFold(strings.TrimSpace(s), "none") {
			d.problem(item, "write `limits: none` alone, or leave the word out", "none cannot stand beside other limits")
			return
		}
		l, err := limit.Parse(s, d.zone)
		if err != nil {
			d.misread(item, s, err)
			return
		}
		if err := proxy.CheckLimit(l, d.zone); err != nil {
			if l.Kind == limit.Per {
				d.problem(item, "lower the burst, raise the amount, or refill it over a shorter time", "this cannot be counted: it would take more than 292 years to refill")
			} else {
				d.problem(item, "write a smaller amount", "this cannot be counted: %v", err)
			}
			return
		}
		list, at = append(list, l), append(at, d.place(item))
	})
	d.distinct(list, at)
	return list, at, false
}

// sentences reads one sentence or a list of them. each is what one of them is, "a limit".
func (d *decoder) sentences(n *yaml.Node, what, each string, read func(item *yaml.Node, s string)) {
	n = deref(n)
	_, one, _ := strings.Cut(each, " ")
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	for i := 0; i < len(items); i++ {
		item := deref(items[i])
		if n.Kind == yaml.SequenceNode && n.Style&yaml.FlowStyle != 0 {
			if parts := split(items[i:]); parts > 1 {
				d.unquoted(items[i:i+parts], "this "+one)
				i += parts - 1
				continue
			}
		}
		if item.Kind == yaml.MappingNode {
			d.problem(item, "write the "+one+" as one sentence, and quote it if it holds a colon or braces", "%s is a sentence, not a mapping", each)
			continue
		}
		if s, ok := d.text(item, what); ok {
			read(item, s)
		}
	}
}

// misread reports the mistake for which a sentence was refused, at the part of it that is at fault.
func (d *decoder) misread(item *yaml.Node, s string, err error) {
	p := d.place(item)
	e, known := errors.AsType[*limit.Error](err)
	if !known {
		d.out.add(p, "", "%v", err)
		return
	}
	if s == item.Value {
		p = p.within(s, e.Offset, e.Length)
	}
	d.out.add(p, e.Fix, "%s", e.Msg)
}

// split counts the items that one unquoted sentence fell into at its commas.
func split(items []*yaml.Node) int {
	n := 1
	for n < len(items) && items[n].Kind == yaml.ScalarNode && items[n].Style == 0 {
		first, _, _ := strings.Cut(strings.ToLower(items[n].Value), " ")
		// What follows "burst" and the like, or the thousands of "1,000 tokens", begins no limit of its own.
		thousands := len(first) == 3 && strings.Trim(first, "0123456789") == "" && !strings.Contains(items[n-1].Value, " ")
		if first != "burst" && first != "observe" && first != "until" && !thousands {
			break
		}
		n++
	}
	if items[0].Kind != yaml.ScalarNode || items[0].Style != 0 {
		return 1
	}
	return n
}

// distinct refuses two limits of one owner that would be one counter.
func (d *decoder) distinct(list []limit.Limit, at []place) {
	first := map[string]string{}
	for i, l := range list {
		id := l.ID()
		if other, seen := first[id]; seen {
			d.out.add(at[i], "keep one of the two, or give them different periods or models", "%q counts the same as %q: %s", l.Text, other, id)
			continue
		}
		first[id] = l.Text
	}
}
