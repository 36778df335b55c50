package cost

// A schema is what is known of a JSON schema, as numbers of its nodes; 0: it has none.
type schema struct {
	node                 int
	verbatim             bool   // it is not an object, or refers to another: it is shown as it stands
	kind                 string // "type", if it is one word
	kinds                int    // "type", if there are several
	description, title   string
	properties, required int
	items, variants      int // variants: of anyOf or oneOf
	choices, constant    int // choices: enum
	preset               int // default
}

// mostUnshown is how many bytes of scalars a definition may have that are not shown and do not count.
const mostUnshown = 512

// schema reads a schema, and keeps those of its members that are not rendered, unless they are short.
func (w *toolWriter) schema(n int) schema {
	s := schema{node: n}
	if w.kind(n) != '{' {
		s.verbatim = true
		return s
	}
	seen := make(map[string]bool, 8)
	for m := range w.each(n) {
		name := w.nodes[m].name
		if !seen[name] && w.member(&s, name, m) {
			seen[name] = true
			continue
		}
		if !seen[name] && shortWords[name] {
			seen[name] = true
			w.leaveShort(name, w.raw(m))
			continue
		}
		w.leaveMember(m)
	}
	return s
}

// member takes note of a member that is rendered, and says whether it is one.
func (w *toolWriter) member(s *schema, name string, m int) bool {
	kind := w.kind(m)
	switch name {
	case "type":
		return w.kinds(s, m)
	case "description":
		s.description, _ = w.str(m)
		return kind == '"'
	case "title":
		s.title, _ = w.str(m)
		return kind == '"'
	case "properties":
		return note(&s.properties, m, kind == '{')
	case "required":
		return note(&s.required, m, kind == '[')
	case "items":
		return note(&s.items, m, kind == '{')
	case "anyOf", "oneOf":
		return note(&s.variants, m, kind == '[' && s.variants == 0 && w.nodes[m].first != 0)
	case "enum":
		return note(&s.choices, m, kind == '[' && w.nodes[m].first != 0)
	case "const":
		return note(&s.constant, m, w.modern && kind != '{' && kind != '[')
	case "default":
		return note(&s.preset, m, true)
	case "$ref":
		s.verbatim = true
		return true
	default:
		return false
	}
}

func note(at *int, m int, fits bool) bool {
	if fits {
		*at = m
	}
	return fits
}

// kinds reads the member "type": a word or several.
func (w *toolWriter) kinds(s *schema, m int) bool {
	if w.isKind(m) {
		s.kind, _ = w.str(m)
		return true
	}
	if w.kind(m) != '[' || w.nodes[m].first == 0 {
		return false
	}
	for n := range w.each(m) {
		if !w.isKind(n) {
			return false
		}
	}
	s.kinds = m
	return true
}

// isKind says whether a value is one of JSON Schema's words for a type.
func (w *toolWriter) isKind(n int) bool {
	switch w.raw(n) {
	case `"string"`, `"number"`, `"integer"`, `"boolean"`, `"null"`, `"object"`, `"array"`:
		return true
	default:
		return false
	}
}

// shortWords are JSON Schema's words for scalars that are not rendered.
var shortWords = map[string]bool{
	"$schema": true, "$id": true, "$comment": true, "const": true, "format": true, "pattern": true, "strict": true,
	"minimum": true, "maximum": true, "exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true,
	"minLength": true, "maxLength": true, "minItems": true, "maxItems": true, "minProperties": true, "maxProperties": true,
	"uniqueItems": true, "additionalProperties": true, "additionalItems": true, "unevaluatedProperties": true,
	"nullable": true, "deprecated": true, "readOnly": true, "writeOnly": true, "contentEncoding": true, "contentMediaType": true,
}

// leaveShort keeps a value that is not shown, unless it is a short scalar and there are not many.
func (w *toolWriter) leaveShort(name, value string) {
	const short = 64
	if (value == "" || value[0] != '{' && value[0] != '[') && len(value) <= short && w.unshown+len(value) <= mostUnshown {
		w.unshown += len(value)
		return
	}
	w.leave(name, value)
}
