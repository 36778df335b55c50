package main

import (
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// continued counts the names after a value in braces that are no names but the rest of the value, cut off by its commas:
// { limits: 200k tokens per minute, burst 600k }. Such a name has no value, and holds a blank as none of ours does.
func continued(v *yaml.Node, rest []*yaml.Node) int {
	if v.Kind != yaml.ScalarNode || v.Style != 0 || isNull(v) {
		return 0
	}
	n := 0
	for ; 2*n+1 < len(rest); n++ {
		k, empty := rest[2*n], rest[2*n+1]
		if k.Kind != yaml.ScalarNode || k.Style != 0 || !strings.Contains(k.Value, " ") || !isNull(empty) || empty.Value != "" {
			break
		}
	}
	return n
}

// rejoined reports a value that its commas cut, and returns it whole, so that nothing else is found wrong with it.
func (d *decoder) rejoined(v *yaml.Node, rest []*yaml.Node) *yaml.Node {
	pieces := []*yaml.Node{v}
	for i := 0; i < len(rest); i += 2 {
		pieces = append(pieces, rest[i])
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: d.unquoted(pieces, "this value"), Line: v.Line, Column: v.Column}
}

// unquoted reports that what should be one text was cut at its commas, and returns the text.
func (d *decoder) unquoted(pieces []*yaml.Node, what string) string {
	var whole strings.Builder
	for i, piece := range pieces {
		thousands := i > 0 && piece.Value != "" && '0' <= piece.Value[0] && piece.Value[0] <= '9'
		if i > 0 && !thousands {
			whole.WriteString(", ")
		}
		whole.WriteString(piece.Value)
	}
	at := d.place(pieces[0])
	if last := pieces[len(pieces)-1]; last.Line == at.line {
		at.width = last.Column - pieces[0].Column + len([]rune(last.Value))
	}
	d.out.add(at, "quote it: \""+whole.String()+"\"", "unquoted commas split %s in %d", what, len(pieces))
	return whole.String()
}
