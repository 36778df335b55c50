package main

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// withKeys is the text with the keys added.
func withKeys(name string, old []byte, made []entry) ([]byte, error) {
	before, err := parsed(name, old)
	if err != nil {
		return nil, err
	}
	root := before.root
	if root != nil && root.Kind != yaml.MappingNode {
		return nil, errors.New("it is not a configuration: its top is not a mapping")
	}
	for _, e := range made {
		if keys := child(root, "keys"); keys != nil && keys.Kind == yaml.MappingNode && child(keys, e.name) != nil {
			return nil, fmt.Errorf("it holds a key %s already (line %d); choose another name, or add a second hash to that key", e.name, keyLine(keys, e.name))
		}
	}
	fresh, err := insert(old, root, made)
	if err != nil {
		return nil, err
	}
	after, err := parsed(name, fresh)
	if err != nil {
		return nil, fmt.Errorf("the keys would make it unreadable:\n%w", err)
	}
	if !sameBut(root, after.root, made) {
		return nil, errors.New("its layout is unusual, and adding a key would change more than that; paste the YAML of `tokenfare keys new` by hand")
	}
	return fresh, nil
}

func parsed(name string, text []byte) (*source, error) {
	var out problems
	s := &source{name: name, dir: filepath.Dir(name)}
	s.parse(text, &out)
	return s, out.err()
}

// insert puts the keys behind the last one of the text.
func insert(old []byte, root *yaml.Node, made []entry) ([]byte, error) {
	newline := "\n"
	if bytes.Contains(old, []byte("\r\n")) {
		newline = "\r\n"
	}
	lines := strings.SplitAfter(string(old), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if lastLine(root) > len(lines) { // YAML knows further ends of a line
		return nil, errors.New("its lines end in other characters than a line feed; save it with usual ends of lines first")
	}
	at, indent := len(lines), 2
	head := ""
	switch keys := child(root, "keys"); {
	case keys == nil:
		head = "keys:" + newline
		if len(lines) > 0 {
			head = newline + head
		}
	case isNull(keys) && keys.Style == 0:
		at = keyLine(root, "keys")
	case keys.Kind == yaml.MappingNode && len(keys.Content) == 0 && keys.Style&yaml.FlowStyle != 0:
		line := lines[keys.Line-1]
		if !strings.Contains(line, "{}") {
			return nil, errors.New("its keys: are written in braces; write them one below the other first")
		}
		lines[keys.Line-1] = strings.TrimRight(strings.Replace(line, "{}", "", 1), " \r\n") + newline
		at = keys.Line
	case keys.Kind != yaml.MappingNode:
		return nil, errors.New("its keys: are not a mapping of names")
	case keys.Style&yaml.FlowStyle != 0:
		return nil, errors.New("its keys: are written in braces; write them one below the other first")
	default:
		indent = keys.Content[0].Column - 1
		at = endOfBlock(lines, root, keys)
	}
	if at > 0 && !strings.HasSuffix(lines[at-1], "\n") {
		lines[at-1] += newline
	}
	var b strings.Builder
	b.WriteString(head)
	for _, e := range made {
		b.WriteString(strings.Repeat(" ", indent) + e.yaml() + newline)
	}
	return []byte(strings.Join(slices.Insert(lines, at, b.String()), "")), nil
}

// endOfBlock returns how many lines there are up to the end of the keys: mapping: its last indented line, comments
// that are indented like keys included, before the next member of the top begins.
func endOfBlock(lines []string, root, keys *yaml.Node) int {
	limit := len(lines)
	for i := 0; i < len(root.Content); i += 2 {
		if l := root.Content[i].Line; l > keys.Line && l-1 < limit {
			limit = l - 1
		}
	}
	end := lastLine(keys)
	for i := end; i < limit; i++ {
		if line := lines[i]; strings.TrimSpace(line) != "" && (line[0] == ' ' || line[0] == '\t') {
			end = i + 1
		}
	}
	return end
}

// lastLine is the last line on which a part of the node begins.
func lastLine(n *yaml.Node) int {
	if n == nil {
		return 0
	}
	last := n.Line
	for _, c := range n.Content {
		last = max(last, lastLine(c))
	}
	return last
}

func child(n *yaml.Node, name string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

func keyLine(n *yaml.Node, name string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i].Line
		}
	}
	return 0
}

// sameBut reports whether after says what before says and names the keys that were made, in that order, and no more.
func sameBut(before, after *yaml.Node, made []entry) bool {
	keys := child(after, "keys")
	if keys == nil || keys.Kind != yaml.MappingNode || len(keys.Content) < 2*len(made) {
		return false
	}
	kept := len(keys.Content) - 2*len(made)
	for i, e := range made {
		if keys.Content[kept+2*i].Value != e.name || child(keys.Content[kept+2*i+1], "hash") == nil {
			return false
		}
	}
	was := child(before, "keys")
	rest := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: keys.Content[:kept]}
	if !(was == nil || isNull(was)) && !equal(was, rest) || (was == nil || isNull(was)) && kept > 0 {
		return false
	}
	return equal(without(before, "keys"), without(after, "keys"))
}

func without(n *yaml.Node, name string) *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if n != nil {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value != name {
				out.Content = append(out.Content, n.Content[i], n.Content[i+1])
			}
		}
	}
	return out
}

// equal compares what two nodes say, not how.
func equal(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Value != b.Value || a.Tag != b.Tag || a.Anchor != b.Anchor || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !equal(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}
