package cost

import "bytes"

// value is how many bytes the string has that begins here and is the value of a name: a title may have a % in it. It is 0 where
// there may be more in it than a text.
func (d *pdf) value(r *pdfReader, b []byte) int {
	const most = 4 << 10
	if r.pending == "" || r.comment {
		return 0
	}
	b = b[:min(len(b), most)]
	end := stringEnd(b)
	if end >= 0 && r.owner != 0 && beginsObject(b[:end]) {
		d.unreadable = true
	}
	if end < 0 || bytes.Contains(b[:end], []byte("obj")) || bytes.Contains(b[:end], []byte("R")) && bytes.ContainsAny(b[:end], "0123456789") {
		return 0
	}
	r.forget()
	return end
}

// lengthSaid is how many bytes the string has that begins here.
func (d *pdf) lengthSaid(b []byte) int64 {
	b = bytes.TrimLeft(b, " \t\r\n\x00\f")
	if len(b) == 0 || b[0] != '(' && b[0] != '<' {
		return unreadable // it stands elsewhere
	}
	var end int
	if b[0] == '(' {
		end = stringEnd(b)
	} else {
		end = bytes.IndexByte(b, '>')
	}
	if end < 0 {
		end = len(b)
	}
	if d.left -= end; d.left < 0 {
		d.unreadable = true
	}
	return int64(end)
}

// stringEnd is where the string ends that begins here, or -1.
func stringEnd(b []byte) int {
	for i, depth := 0, 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}
