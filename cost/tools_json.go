package cost

import "encoding/json"

// A jsonTree is a JSON text that was taken apart, so that a definition can be rendered in the order it was written in.
type jsonTree struct {
	text  string
	at    int        // where reading stands
	nodes []jsonNode // the first stands for none and has no children
}

// root is the number of the node that is the whole text.
const root = 1

// A jsonNode is a value: text[start:end].
type jsonNode struct {
	start, end  int
	name        string // of the member that it is the value of, decoded
	first, next int    // its first child and its next sibling; 0: none
}

// Bounds of what is taken apart. A text beyond them is counted as it stands.
const (
	mostToolDepth = 64
	mostToolNodes = 1 << 15
)

// parseTree takes a text apart. It says no to one that is not JSON or beyond the bounds; it is not a judge of strings and
// numbers, which do not change how a text is rendered.
func parseTree(text string) (t jsonTree, ok bool) {
	t.text, t.nodes = text, make([]jsonNode, root, 32)
	_, ok = t.value("", 0)
	t.skipBlanks()
	return t, ok && t.at == len(text)
}

func (t *jsonTree) skipBlanks() {
	for t.at < len(t.text) && isBlank(t.text[t.at]) {
		t.at++
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// peek is the next byte that is not a blank, or 0.
func (t *jsonTree) peek() byte {
	t.skipBlanks()
	if t.at == len(t.text) {
		return 0
	}
	return t.text[t.at]
}

// value reads a value and returns its number.
func (t *jsonTree) value(name string, depth int) (number int, ok bool) {
	first := t.peek()
	number = len(t.nodes)
	if number >= mostToolNodes || depth > mostToolDepth || first == 0 {
		return 0, false
	}
	t.nodes = append(t.nodes, jsonNode{start: t.at, name: name})
	switch first {
	case '{', '[':
		ok = t.children(number, first == '{', depth)
	case '"':
		_, ok = t.quoted()
	default:
		for t.at < len(t.text) && isLiteral(t.text[t.at]) {
			t.at++
		}
		ok = t.at > t.nodes[number].start
	}
	t.nodes[number].end = t.at
	return number, ok
}

// isLiteral says whether a byte belongs to a number, true, false or null.
func isLiteral(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' || c == '+' || c == '.' || c == 'E'
}

// children reads what is in an object or array, from its opening bracket on.
func (t *jsonTree) children(parent int, object bool, depth int) bool {
	closing := byte(']')
	if object {
		closing = '}'
	}
	t.at++
	if t.peek() == closing {
		t.at++
		return true
	}
	last := 0
	for {
		name := ""
		if object {
			if t.peek() != '"' {
				return false
			}
			raw, ok := t.quoted()
			if !ok || t.peek() != ':' {
				return false
			}
			t.at++
			name = unquoted(raw)
		}
		child, ok := t.value(name, depth+1)
		if !ok {
			return false
		}
		if last == 0 {
			t.nodes[parent].first = child
		} else {
			t.nodes[last].next = child
		}
		last = child
		switch t.peek() {
		case ',':
			t.at++
		case closing:
			t.at++
			return true
		default:
			return false
		}
	}
}

// quoted reads a string with its quotes.
func (t *jsonTree) quoted() (raw string, ok bool) {
	start := t.at
	for t.at++; t.at < len(t.text); t.at++ {
		switch t.text[t.at] {
		case '\\':
			t.at++
		case '"':
			t.at++
			return t.text[start:t.at], true
		}
	}
	t.at = len(t.text)
	return "", false
}

// unquoted is the text of a quoted string; of one that is not proper JSON it is what stands between the quotes.
func unquoted(raw string) string {
	inside := raw[1 : len(raw)-1]
	for i := range len(inside) {
		if inside[i] != '\\' {
			continue
		}
		var s string
		if json.Unmarshal([]byte(raw), &s) != nil {
			return inside
		}
		return s
	}
	return inside
}

// raw is a value as it was written.
func (t *jsonTree) raw(n int) string { return t.text[t.nodes[n].start:t.nodes[n].end] }

// kind is the first byte of a value: '{', '[', '"' or that of a literal.
func (t *jsonTree) kind(n int) byte { return t.text[t.nodes[n].start] }

// str is the text of a value, if it is a string.
func (t *jsonTree) str(n int) (string, bool) {
	if t.kind(n) != '"' {
		return "", false
	}
	return unquoted(t.raw(n)), true
}

// each goes through the members of an object or the items of an array.
func (t *jsonTree) each(parent int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for n := t.nodes[parent].first; n != 0 && yield(n); n = t.nodes[n].next {
		}
	}
}
