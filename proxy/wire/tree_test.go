package wire

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// A node is a JSON value as encoding/json's decoder shows it token by token, with every member that is there, repeated ones too, in order.
type node struct {
	value   any // string, json.Number, bool, nil, or the json.Delim that opens it
	members []field
	items   []*node
}

type field struct {
	name  string
	value *node
}

// treeOf reads one JSON value and nothing behind it.
func treeOf(t *testing.T, body []byte) *node {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	n, err := readNode(d)
	if err != nil {
		t.Fatalf("encoding/json does not read %s: %v", body, err)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("encoding/json reads more behind the end of %s: %v", body, err)
	}
	return n
}

func readNode(d *json.Decoder) (*node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	n := &node{value: token}
	open, ok := token.(json.Delim)
	for ok && d.More() {
		var name string
		if open == '{' {
			token, err := d.Token()
			if err != nil {
				return nil, err
			}
			name, _ = token.(string)
		}
		value, err := readNode(d)
		if err != nil {
			return nil, err
		}
		if open == '{' {
			n.members = append(n.members, field{name, value})
		} else {
			n.items = append(n.items, value)
		}
	}
	if ok {
		_, err = d.Token() // the closing bracket
	}
	return n, err
}

// A habit is how a parser finds a member of an object.
type habit struct {
	first   bool // of several, the first counts, and not the last
	lenient bool // names need not have the same case, and underscores and hyphens do not matter
}

// habits are those that are in use: of several members with one name this or that one counts, and names are looked up exactly, or as
// encoding/json and parsers of protocol buffers do.
var habits = []habit{{}, {first: true}, {lenient: true}, {first: true, lenient: true}}

var bare = strings.NewReplacer("_", "", "-", "")

// get is a member's value; nil if there is none, or if it is null, or if n is no object.
func (h habit) get(n *node, name string) *node {
	var found *node
	for _, m := range n.fields() {
		same := m.name == name || h.lenient && strings.EqualFold(bare.Replace(m.name), bare.Replace(name))
		if same && (found == nil || !h.first) {
			found = m.value
		}
	}
	if found == nil || found.value == nil {
		return nil
	}
	return found
}

func (n *node) fields() []field {
	if n == nil {
		return nil
	}
	return n.members
}

// elements are the items of an array; none if n is something else.
func (n *node) elements() []*node {
	if n == nil {
		return nil
	}
	return n.items
}

// text is a string; empty if n is something else.
func (n *node) text() string {
	if n == nil {
		return ""
	}
	s, _ := n.value.(string)
	return s
}

// number is a whole number; 0 if n is something else.
func (n *node) number() int64 {
	if n == nil {
		return 0
	}
	number, _ := n.value.(json.Number)
	i, _ := number.Int64()
	return i
}

// true reports whether n is true.
func (n *node) true() bool {
	return n != nil && n.value == true
}

// isArray reports whether n is an array.
func (n *node) isArray() bool { return n != nil && n.value == json.Delim('[') }

// isNumber reports whether n is a number.
func (n *node) isNumber() bool {
	_, ok := n.value.(json.Number)
	return ok
}
