package cost

import "strings"

// The provider shows a model its functions as TypeScript types, not as the JSON that callers write. The form for older
// models was found by hmarr/openai-chat-tokens, by trying definitions and reading the usage; the form for newer ones is
// that of openai/harmony, which OpenAI publishes for gpt-oss: it differs in showing more (what describes inner
// properties, titles, constants). What neither is known to show counts in one of two ways: a short scalar that
// JSON Schema has a word for, such as "minimum": 1, does not count; anything else counts as the JSON it is.

// A toolWriter renders definitions.
type toolWriter struct {
	jsonTree      // of the definition at hand
	modern   bool // the newer form
	shown    strings.Builder
	rest     strings.Builder // what could not be rendered, as JSON
	most     int             // bytes that may be shown
	over     bool            // there would be more
	unshown  int             // bytes of the definition at hand that are not shown and not counted
}

// renderTools renders definitions: what the model is shown, and the JSON of what could not be rendered. It says no if that
// is much longer than the definitions: indentation can make it so, of lines that hold nothing.
func renderTools(definitions []string, modern bool) (shown, rest string, ok bool) {
	w := toolWriter{modern: modern, most: 64 << 10}
	for _, definition := range definitions {
		w.most += 2 * len(definition)
	}
	for _, definition := range definitions {
		tree, ok := parseTree(definition)
		w.unshown = 0
		if w.jsonTree = tree; !ok || !w.tool() {
			w.leave("", definition)
		}
		if w.over {
			return "", "", false
		}
	}
	if w.shown.Len() == 0 {
		return "", w.rest.String(), true
	}
	return "namespace functions {\n\n" + w.shown.String() + "} // namespace functions", w.rest.String(), true
}

// show writes what the model is shown, as long as there is room for it.
func (w *toolWriter) show(s string) {
	if w.over = w.over || w.shown.Len()+len(s) > w.most; !w.over {
		w.shown.WriteString(s)
	}
}

// tool renders one tool: {"type": "function", "function": {...}}, the same without a wrapper, or a bare function. It says
// no, and has written nothing, if the tool is something else.
func (w *toolWriter) tool() bool {
	if w.kind(root) != '{' {
		return false
	}
	function, wrapped := root, false
	for n := range w.each(root) {
		switch w.nodes[n].name {
		case "type":
			if kind, _ := w.str(n); kind != "function" {
				return false
			}
		case "function":
			function, wrapped = n, true
		}
	}
	var f struct{ name, description, parameters int }
	if w.kind(function) == '{' {
		for n := range w.each(function) {
			switch {
			case w.nodes[n].name == "name" && w.kind(n) == '"':
				f.name = n
			case w.nodes[n].name == "description" && w.kind(n) == '"':
				f.description = n
			case w.nodes[n].name == "parameters" && w.kind(n) == '{':
				f.parameters = n
			}
		}
	}
	if f.name == 0 {
		return false
	}
	for n := range w.each(root) {
		if wrapped && n != function && w.nodes[n].name != "type" {
			w.leaveMember(n)
		}
	}
	for n := range w.each(function) {
		name := w.nodes[n].name
		if n != f.name && n != f.description && n != f.parameters && name != "strict" && (wrapped || name != "type") {
			w.leaveMember(n)
		}
	}
	w.function(f.name, f.description, f.parameters)
	return true
}

func (w *toolWriter) function(name, description, parameters int) {
	if description != 0 {
		w.comment(0, unquoted(w.raw(description)))
	}
	w.show("type " + unquoted(w.raw(name)) + " = (")
	if parameters != 0 {
		s := w.schema(parameters)
		if s.verbatim {
			w.leaveMember(parameters)
		}
		w.describeBeside(&s)
		if w.nodes[s.properties].first != 0 {
			w.show("_: {\n")
			w.properties(&s, 0)
			w.show("\n}")
		}
		w.leaveUnused(&s)
	}
	w.show(") => any;\n\n")
}

// properties renders the properties of an object, without its braces.
func (w *toolWriter) properties(object *schema, indent int) {
	required := w.required(object)
	list, first := object.properties, true
	object.properties = 0 // an object is rendered once, however often its type is named
	for n := range w.each(list) {
		if !first {
			w.show("\n")
		}
		first = false
		s := w.schema(n)
		w.describe(&s, indent)
		w.indent(indent)
		w.show(w.nodes[n].name)
		if !required[w.nodes[n].name] {
			w.show("?")
		}
		w.show(": ")
		w.typeOf(&s, indent)
		w.show(",")
		if s.preset != 0 {
			w.show(" // default: " + w.raw(s.preset))
		}
	}
}

// describe writes what is said of a property.
func (w *toolWriter) describe(s *schema, indent int) {
	switch {
	case s.title == "":
	case w.modern:
		w.comment(indent, s.title+"\n\n")
	default:
		w.leave("title", s.title)
	}
	switch {
	case s.description == "":
	case w.modern || indent == 0:
		w.comment(indent, s.description)
	default:
		w.leave("description", s.description)
	}
}

// required are the names of the properties that must be there. Names of other things count as they stand.
func (w *toolWriter) required(object *schema) map[string]bool {
	if object.required == 0 {
		return nil
	}
	known := make(map[string]bool)
	for n := range w.each(object.properties) {
		known[w.nodes[n].name] = false
	}
	for n := range w.each(object.required) {
		name, ok := w.str(n)
		if already, is := known[name]; !ok || !is || already {
			w.leave("", w.raw(n))
			continue
		}
		known[name] = true
	}
	object.required = 0
	return known
}

// typeOf renders the type that a schema describes.
func (w *toolWriter) typeOf(s *schema, indent int) {
	switch {
	case s.verbatim:
		w.show(w.raw(s.node))
		return
	case s.variants != 0:
		w.join(&s.variants, func(n int) { w.inner(n, indent) })
	case s.choices != 0:
		w.join(&s.choices, func(n int) { w.show(w.literal(n)) })
	case s.constant != 0:
		w.show(w.literal(s.constant))
		s.constant = 0
	case s.kinds != 0:
		w.join(&s.kinds, func(n int) {
			kind, _ := w.str(n)
			w.named(s, kind, indent)
		})
	default:
		w.named(s, s.kind, indent)
	}
	w.leaveUnused(s)
}

// leaveUnused keeps what a schema says that the rendering of its type had no use for.
func (w *toolWriter) leaveUnused(s *schema) {
	for _, n := range []int{s.properties, s.required, s.items, s.variants, s.choices, s.constant} {
		if n != 0 && (w.nodes[n].first != 0 || w.kind(n) != '{' && w.kind(n) != '[') {
			w.leaveMember(n)
		}
	}
}

// named renders a schema as the type of that name.
func (w *toolWriter) named(s *schema, kind string, indent int) {
	switch {
	case kind == "object" || kind == "" && s.properties != 0:
		w.show("{\n")
		w.properties(s, indent+2)
		w.show("\n}")
	case (kind == "array" || kind == "") && s.items != 0:
		items := s.items
		s.items = 0
		w.inner(items, indent)
		w.show("[]")
	case kind == "array":
		w.show("any[]")
	case kind == "integer":
		w.show("number")
	case kind == "":
		w.show("any")
	default:
		w.show(kind)
	}
}

// inner renders a schema that is not that of a property.
func (w *toolWriter) inner(n, indent int) {
	s := w.schema(n)
	w.describeBeside(&s)
	w.typeOf(&s, indent)
}

// describeBeside counts what is said of a schema in a place where nothing is shown to describe it.
func (w *toolWriter) describeBeside(s *schema) {
	if s.description != "" {
		w.leave("description", s.description)
	}
	if s.title != "" {
		w.leave("title", s.title)
	}
	if s.preset != 0 {
		w.leaveShort("default", w.raw(s.preset))
	}
}

// join writes the items of a list as a union, and forgets the list.
func (w *toolWriter) join(list *int, write func(n int)) {
	at, first := *list, true
	*list = 0
	for n := range w.each(at) {
		if !first {
			w.show(" | ")
		}
		first = false
		write(n)
	}
}

// literal is a value as a type: its text in quotes, without escapes, or the number.
func (w *toolWriter) literal(n int) string {
	if text, ok := w.str(n); ok {
		return `"` + text + `"`
	}
	return w.raw(n)
}

// comment writes each line of a text as a comment.
func (w *toolWriter) comment(indent int, text string) {
	for line := range strings.Lines(text) {
		w.indent(indent)
		if line == "\n" {
			w.show("//\n")
			continue
		}
		w.show("// " + strings.TrimSuffix(line, "\n") + "\n")
	}
}

func (w *toolWriter) indent(n int) {
	const blanks = "                                                                "
	for ; n > 0; n -= len(blanks) {
		w.show(blanks[:min(n, len(blanks))])
	}
}

// leaveMember keeps a member that could not be rendered.
func (w *toolWriter) leaveMember(n int) { w.leave(w.nodes[n].name, w.raw(n)) }

// leave keeps what could not be rendered.
func (w *toolWriter) leave(name, json string) {
	if name != "" {
		w.rest.WriteString(`"` + name + `":`)
	}
	w.rest.WriteString(json)
	w.rest.WriteByte('\n')
}
