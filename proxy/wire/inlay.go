package wire

import "bytes"

// addressed are the members by which some servers fetch what an object in a part does not hold itself.
var addressed = append([]string{"url", "uri", "file_uri"}, unknowable...)

// inlay reads the base64 of a file or a recording without counting it. An address would count as a few tokens of content.
func (r *reader) inlay(at *span) error {
	if err := r.later(at); err != nil {
		return err
	}
	return r.notRemote(*at)
}

// notRemote refuses a string that is an address, where content may be.
func (r *reader) notRemote(at span) error {
	if !isRemote(r.content(at)) {
		return nil
	}
	return r.fail(CodeUnsupportedMember, "%s is an address of what has a cost that cannot be known before the call: send the file itself, in base64.")
}

// isRemote reports whether a text begins like a URL that is not its own content, as lenient parsers read it: RFC 3986, section 3.1, but
// for blanks before it and line ends within, which WHATWG URL leaves out. Base64 has no colon.
func isRemote(text []byte) bool {
	const longest = 64 // scheme
	text = bytes.TrimLeftFunc(text, func(c rune) bool { return c <= ' ' })
	var scheme []byte
	for i, c := range text {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', len(scheme) > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
			if scheme = append(scheme, c); len(scheme) > longest {
				return false
			}
		case c == '\t' || c == '\n' || c == '\r':
		case c == ':' && len(scheme) > 0:
			rest := bytes.TrimLeft(text[i+1:], "\t\n\r")
			return len(rest) > 0 && (rest[0] == '/' || rest[0] == '\\') && !bytes.EqualFold(scheme, []byte("data"))
		default:
			return false
		}
	}
	return false
}
