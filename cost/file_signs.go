package cost

import "bytes"

// signText is how many bytes a part shows for what is no text in it: spaces, of which an element of a text document may stand for
// any number (OpenDocument, section 6.1.3), and what begins a line or a cell.
func signText(b []byte) (text int64) {
	for {
		i := bytes.IndexByte(b, '<')
		if i < 0 {
			return text
		}
		b = b[i+1:]
		if len(b) == 0 || b[0] == '/' {
			continue
		}
		name, end := elementName(b)
		switch string(name) {
		case "s":
			text = saturatingAdd(text, spaces(b[end:]))
		case "tab", "line-break", "br", "cr", "p", "li", "row", "tr", "td", "tc", "c":
			text++
		}
	}
}

// spaces is how many an element stands for, given what is behind its name. They count as bytes: vocabularies differ in how many of
// them a token has.
func spaces(b []byte) int64 {
	const space = " \t\r\n"
	n := int64(1)
	b = b[:firstOf(b, "<")] // a value may have what ends a tag in it
	for {
		i := bytes.Index(b, []byte(":c"))
		if i < 0 {
			return n
		}
		b = b[i+len(":c"):]
		value, is := bytes.CutPrefix(bytes.TrimLeft(b, space), []byte("="))
		value = bytes.TrimLeft(value, space)
		if !is || len(value) == 0 || value[0] != '"' && value[0] != '\'' {
			continue
		}
		number, digits := pdfInt(value[1:])
		if end := value[1+digits:]; len(end) == 0 || end[0] != value[0] {
			return unreadable // it may be written in other ways
		}
		n = max(n, number)
	}
}
