package cost

import "bytes"

// xmlText is how many bytes of a part of an office document or a book may be shown as text: those outside of tags, and
// longer values of attributes, which may be what is said of a picture. What is no XML counts in full.
func xmlText(b []byte) (text int64) {
	const looked = 64
	start := bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(start) == 0 || start[0] != '<' || bytes.IndexByte(start[:min(len(start), looked)], 0) >= 0 {
		return int64(len(b))
	}
	const verbatim = "<![CDATA["
	for {
		i := bytes.IndexByte(b, '<')
		if i < 0 {
			return text + int64(len(b))
		}
		text, b = text+int64(i), b[i:]
		switch {
		case bytes.HasPrefix(b, []byte(verbatim)):
			b = b[len(verbatim):]
			end := bytes.Index(b, []byte("]]>"))
			if end < 0 {
				end = len(b)
			}
			text, b = text+int64(end), b[end:]
		case len(b) < 2 || !beginsTag[b[1]]: // a tolerant reader shows it
			text, b = text+1, b[1:]
		default:
			end := bytes.IndexByte(b, '>')
			if end < 0 {
				return text + int64(len(b))
			}
			text, b = text+tagText(b[:end]), b[end+1:]
		}
	}
}

// beginsTag are the bytes that may follow a < that begins a tag.
var beginsTag = func() (is [256]bool) {
	for c := range is {
		is[c] = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '/' || c == '!' || c == '?' || c == '_' || c >= 0x80
	}
	return is
}()

// tagText is how many bytes of a tag may be shown: of values that are longer than what tags commonly have, and of tags that are.
func tagText(tag []byte) (text int64) {
	const longValue, longTag = 32, 1 << 10
	names := bytes.HasPrefix(tag, []byte("<?"))
	for {
		i := bytes.IndexAny(tag, `"'`)
		if i < 0 {
			return text + int64(max(0, len(tag)-longTag))
		}
		name, quote := tag[:i], tag[i]
		tag = tag[i+1:]
		n := bytes.IndexByte(tag, quote)
		if n < 0 {
			return text + int64(len(tag))
		}
		text += int64(max(0, len(name)-longTag))
		name = name[bytes.LastIndexAny(name, " \t\r\n")+1:]
		if n > longValue && !names && !bytes.HasPrefix(name, []byte("xmlns")) {
			text += int64(n)
		}
		tag = tag[n+1:]
	}
}

// shownOnce reports whether a part cannot be what makes others be shown more than once: it has no entities of its own, and the
// lists of slides and chapters name none twice.
func shownOnce(b []byte) bool {
	if bytes.Contains(b, []byte("<!ENTITY")) {
		return false
	}
	for _, list := range []struct{ has, attribute, like string }{
		{"sldIdLst", "id", "rId"},
		{"spine", "idref", ""},
		{"manifest", "href", ""},
		{"Relationship", "Target", "slides/"},
	} {
		if i, j := bytes.Index(b, []byte(list.has)), bytes.LastIndex(b, []byte(list.has)); i >= 0 {
			if list.attribute == "Target" {
				j = len(b)
			}
			if repeats(b[i:j], list.attribute, []byte(list.like)) {
				return false
			}
		}
	}
	return true
}

// repeats reports whether an attribute has the same value twice, of values that have something in them.
func repeats(b []byte, attribute string, like []byte) bool {
	seen := map[string]bool{}
	for {
		i := bytes.Index(b, []byte(attribute))
		if i < 0 {
			return false
		}
		b = bytes.TrimLeft(b[i+len(attribute):], " \t\r\n=")
		if len(b) == 0 || b[0] != '"' && b[0] != '\'' {
			continue
		}
		n := bytes.IndexByte(b[1:], b[0])
		if n < 0 {
			return false
		}
		value := b[1:][:n]
		if bytes.Contains(value, like) {
			if seen[string(value)] {
				return true
			}
			seen[string(value)] = true
		}
		b = b[n+2:]
	}
}
