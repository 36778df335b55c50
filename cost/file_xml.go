package cost

import (
	"bytes"
	"encoding/binary"
	"html"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"
)

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
		{"sldIdLst", ":id", ""},
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
	seen, names := map[string]bool{}, map[string]bool{}
	loose, again := len(like) > 0, false
	for {
		i := bytes.Index(b, []byte(attribute))
		if i < 0 {
			return loose && again
		}
		b = bytes.TrimLeft(b[i+len(attribute):], " \t\r\n=")
		if len(b) == 0 || b[0] != '"' && b[0] != '\'' {
			continue
		}
		n := bytes.IndexByte(b[1:], b[0])
		if n < 0 {
			return loose && again
		}
		if value := b[1:][:n]; bytes.Contains(value, like) {
			key := samePlace(string(value))
			if seen[key] {
				return true
			}
			seen[key] = true
			again = again || names[path.Base(key)]
			names[path.Base(key)] = true
			loose = loose || strings.Contains(key, "..") // it is not known from where
		}
		b = b[n+2:]
	}
}

// samePlace is the same for all ways to write where something is, but for those that begin further up.
func samePlace(s string) string {
	s = html.UnescapeString(s)
	s, _, _ = strings.Cut(s, "#")
	if plain, err := url.PathUnescape(s); err == nil {
		s = plain
	}
	return strings.ToLower(path.Clean(strings.ReplaceAll(s, "\\", "/")))
}

// fromUTF16 is what a part says that is written in two bytes for each character, or nil.
func fromUTF16(b []byte) []byte {
	const looked = 64
	zero := bytes.IndexByte(b[:min(len(b), looked)], 0)
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case bytes.HasPrefix(b, []byte("\xfe\xff")), zero >= 0 && zero%2 == 0:
		order = binary.BigEndian
	case bytes.HasPrefix(b, []byte("\xff\xfe")), zero >= 0:
	default:
		return nil
	}
	out := make([]byte, 0, len(b)/2)
	for i := 0; i+1 < len(b); i += 2 { // what matters here is ASCII
		c := order.Uint16(b[i:])
		switch {
		case c == 0xfeff:
		case c < utf8.RuneSelf:
			out = append(out, byte(c))
		default:
			out = append(out, "\xef\xbf\xbd"...) // three bytes, as most have
		}
	}
	return out
}

// repeatedText is how many bytes are shown beyond those that are there: rows and columns of a table may be said to be there many
// times (OpenDocument, section 19.675).
func repeatedText(b []byte, depth int) (more int64) {
	const deepest = 8
	word := []byte("-repeated")
	for {
		i := bytes.Index(b, word)
		if i < 0 {
			return more
		}
		begins := max(0, bytes.LastIndexByte(b[:i], '<'))
		if tag := b[begins:i]; bytes.IndexByte(tag, '>') >= 0 && !bytes.ContainsAny(tag, "\"'") { // it is in no tag
			b = b[i+len(word):]
			continue
		}
		value := bytes.TrimLeft(b[i+len(word):], " \t\r\n=\"'")
		times, _ := pdfInt(value)
		name, _, _ := bytes.Cut(b[begins:i], []byte(" "))
		name = bytes.TrimRight(name, "\t\r\n")
		b = b[i+len(word):]
		end := bytes.IndexByte(b, '>')
		if end < 0 {
			return more
		}
		if times < 2 || len(name) < 2 || end > 0 && b[end-1] == '/' {
			continue
		}
		if depth == deepest {
			return unreadable
		}
		inner := b[end+1:]
		inner = inner[:firstOf(inner, "</"+string(name[1:]))]
		once := saturatingAdd(xmlText(append([]byte("<a>"), inner...)), signText(inner))
		more = saturatingAdd(more, saturatingMul(times-1, saturatingAdd(once, repeatedText(inner, depth+1))))
		b = b[end+1+len(inner):]
	}
}
