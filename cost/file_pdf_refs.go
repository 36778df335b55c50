package cost

import "bytes"

// number takes a number, or what refers to an object, "7 0 R", and says how many bytes that is.
func (d *pdf) number(r *pdfReader, b []byte) int {
	number, digits := pdfInt(b)
	end := d.refers(b[digits:])
	if end == 0 {
		if r.pending == "Count" {
			r.count, r.pending = max(r.count, number), ""
		}
		if r.depth == 0 && r.owner != 0 {
			put(&d.ints, r.owner, max(d.ints[r.owner], number))
		}

		return digits
	}
	d.unreadable = d.unreadable || r.hidden // it is not seen whose value this is
	if r.inKids {
		d.kids++
		at := pdfKid{r.owner, d.lists, d.objects}
		if was, ok := d.kid[number]; ok && (was.objects == at.objects || was.owner != at.owner || at.owner == 0) {
			d.unreadable = true // pages that are there more than once, unless their list is there anew
		}
		put(&d.kid, number, at)
	}
	if d.forms[number] || d.isStream[number] {
		put(&d.referred, number, true)
	}
	if r.row {
		put(&d.inRows, number, d.inRows[number]+1)
	}
	switch name := r.pending; {
	case name == "Kids":
		d.unreadable = d.unreadable || !r.inKids // the list stands elsewhere
	case name == "Contents" || r.list == "Contents": // whatever else is in the list
		put(&d.contents, number, d.contents[number]+1)
		put(&d.shows, number, d.shows[number]+1)
	case name == "N" || name == "D" || name == "R" || r.look > 0: // what an annotation looks like
		put(&d.looks, number, true)
		put(&d.shows, number, d.shows[number]+1)
	case r.list == "Annots" || name == "Annots" || name == "AP":
		put(&d.annotated, number, d.annotated[number]+1)
	case name == "": // in an array
		put(&d.shows, number, d.shows[number]+1)
	default:
		if r.row {
			put(&d.rows, r.object(), true)
		}
		entry := pdfForName{name, number}
		if d.forms[number] && !d.known[entry] {
			put(&d.known, entry, true)
			put(&d.named, name, append(d.named[name], number))
		}
	}
	r.pending = ""
	d.unreadable = d.unreadable || max(len(d.shows), len(d.kid), len(d.known), len(d.ints)) > mostPDFEntries
	return digits + end
}

// mostPDFEntries is of how many objects and names it is noted where they are used: a file with more has more pages than a model
// can read.
const mostPDFEntries = 1 << 18

// put sets an entry of a map that need not be there.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// refers is how many bytes there are to the end of " 0 R", with space and comments between its parts, or 0.
func (d *pdf) refers(b []byte) int {
	i, ok := d.gap(b)
	if !ok || i == len(b) {
		return 0
	}
	i += len(b[i:]) - len(bytes.TrimLeft(b[i:], "+-"))
	_, n := pdfInt(b[i:])
	if n == 0 {
		return 0
	}
	i += n
	gap, ok := d.gap(b[i:])
	if i += gap; !ok || i == len(b) || b[i] != 'R' {
		return 0
	}
	return i + 1
}

// gap is how many bytes of space and comments there are, and whether there are any.
func (d *pdf) gap(b []byte) (n int, ok bool) {
	const mostComment = 1 << 10
	for n < len(b) {
		switch b[n] {
		case ' ', '\t', '\r', '\n', '\x00', '\f':
			n++
		case '%':
			comment := b[n:min(len(b), n+mostComment)]
			end := bytes.IndexAny(comment, "\r\n")
			if end < 0 {
				d.unreadable = d.unreadable || len(comment) == mostComment
				return 0, false
			}
			if d.left -= end; d.left < 0 {
				d.unreadable = true
				return 0, false
			}
			n += end
		default:
			return n, n > 0
		}
	}
	return n, n > 0
}
