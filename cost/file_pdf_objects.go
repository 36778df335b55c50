package cost

import "bytes"

// pdfText is what a stream shows.
type pdfText struct {
	shown  int64            // bytes of strings
	forms  map[string]int64 // how often it shows others, by the names it has for them
	marked int64            // pieces whose text stands elsewhere
	first  int64            // where the first object begins, if it has some
}

// pdfObjects is what the objects of a file say of each other.
type pdfObjects struct {
	pages, kids, count int64               // pages by three ways to count them
	kid                map[int64]pdfKid    // what is in the tree of pages
	lists, objects     int                 // of what is in it, and objects that began
	shows              map[int64]int64     // how often an object is the content of a page, or in an array
	contents           map[int64]int64     // how often it is the content of a page
	named              map[string][]int64  // forms by their names
	known              map[pdfForName]bool // what is in named
	rows               map[int64]bool      // objects that are arrays; true: of names as well
	inRows             map[int64]int64     // how often an object is in those
	annotated          map[int64]int64     // annotations, their lists and their looks, and how often they are referred to
	hasLook            map[int64]bool      // objects that may be annotations
	looks              map[int64]bool      // streams that are what annotations look like
	ints               map[int64]int64     // objects that are numbers
	done               int                 // names in all streams' forms
	said               int64               // bytes of the longest text that stands for what is shown
}

// pdfKid is where something stands in the tree of pages.
type pdfKid struct {
	owner   int64 // the object whose list it is in; 0: it is not known
	list    int
	objects int // that began before
}

type pdfForName struct {
	name   string
	number int64
}

// pdfReader is where a piece of a file is being read, the words of objects and of what pages show alike.
type pdfReader struct {
	last    string // the last name
	pending string // the name whose value has not come
	list    string // the name whose value is the list that is being read
	row     bool   // it is an object by itself
	look    int    // depth of the dictionary of what an annotation looks like
	packed  int64  // the object that is being read, in a stream of objects
	comment bool   // what is read may be one, up to the end of the line
	hidden  bool   // there may be a comment between a name and what comes next
	inKids  bool
	owner   int64 // the object that is being read
	depth   int
	node    bool  // the dictionary is one of the tree of pages
	count   int64 // that it gives
}

// read takes what a piece of the file says of objects and shows as text. Comments are no reason to leave anything out: what
// looks like one may be within a string.
func (d *pdf) read(b []byte, text *pdfText) {
	var r pdfReader
	if text != &d.outside {
		d.content(b, text)
	}
	d.widest = max(d.widest, pdfWidest(b))
	packed := packedObjects(b, text.first)
	for i := 0; i < len(b) && !d.unreadable; {
		if number, ok := packed[i]; ok {
			r.packed = number
			r.depth, r.list, r.row = 0, "", false
		}
		switch c := b[i]; {
		case c == '\r' || c == '\n':
			r.comment = false
			i++
		case c == '%':
			r.comment, r.hidden = true, r.hidden || r.pending != ""
			i++
		case c == '/':
			name, n := pdfName(b[i+1:])
			i += 1 + n
			d.name(&r, name, b[i:])
		case c == '(':
			i += max(1, d.value(&r, b[i:]))
		case (c == '+' || c == '-') && i+1 < len(b) && (i == 0 || pdfEnds[b[i-1]] || b[i-1] == c):
			i++ // a sign is part of a number
		case c >= '0' && c <= '9':
			i += d.number(&r, b[i:])
		case c == '[':
			d.array(&r)
			i++
		case c == ']':
			r.inKids, r.list, r.row = false, "", false
			i++
		case c == '<' || c == '>':
			key := r.pending
			r.forget()
			if i+1 < len(b) && b[i+1] == c {
				if d.bracket(&r, c == '<'); c == '<' && key == "AP" && r.look == 0 {
					r.look = r.depth
				}
				i++
			}
			i++
		case pdfEnds[c]:
			i++
		default:
			n := 1
			for i+n < len(b) && !pdfEnds[b[i+n]] {
				n++
			}
			d.word(&r, b[:i], b[i:i+n])
			i += n
		}
	}
	d.bracket(&r, false)
}

// object is the number of the object that is being read, or 0.
func (r *pdfReader) object() int64 { return max(r.owner, r.packed) }

// array begins one.
func (d *pdf) array(r *pdfReader) {
	switch {
	case r.pending == "Kids":
		r.inKids = true
		d.lists++
	case r.depth <= 0 && r.object() != 0:
		r.row = true
		put(&d.rows, r.object(), d.rows[r.object()])
	}
	if r.list == "" {
		r.list = r.pending
	}
}

// forget says that the value of a name has come, unless that may be in a comment.
func (r *pdfReader) forget() {
	if !r.comment {
		r.pending, r.hidden = "", false
	}
}

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

// bracket begins or ends a dictionary.
func (d *pdf) bracket(r *pdfReader, begins bool) {
	if begins {
		r.depth++
		return
	}
	if r.depth--; r.depth < r.look {
		r.look = 0
	}
	if r.depth <= 0 {
		if r.node {
			d.count = max(d.count, r.count)
		}
		*r = pdfReader{last: r.last, inKids: r.inKids, owner: r.owner, packed: r.packed, comment: r.comment, hidden: r.hidden}
	}
}

// name takes a name, behind which b begins.
func (d *pdf) name(r *pdfReader, name string, b []byte) {
	switch {
	case name == "Page" && r.last == "Type":
		d.pages++
	case name == "Pages" || name == "Kids":
		r.node = true
	case name == "Encrypt" || name == "XFA":
		d.unreadable = true
	case name == "ActualText":
		d.said = max(d.said, d.lengthSaid(b))
	}
	if r.list == "Differences" || r.hidden {
		d.widest = max(d.widest, glyphWidest(name))
	}
	if name == "AP" {
		put(&d.hasLook, r.object(), true)
	}
	r.forget()
	r.last, r.pending = name, name
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

// word takes a word between objects, and what is before it.
func (d *pdf) word(r *pdfReader, before, word []byte) {
	switch string(word) {
	case "stream":
		r.owner = 0
	case "obj", "endobj":
		if r.comment && r.owner != 0 { // within another
			d.unreadable = d.unreadable || len(word) == len("obj")
			break
		}
		r.inKids, r.depth, r.owner, r.comment, r.hidden = false, 0, 0, false, false
		if len(word) == len("obj") {
			d.objects++
			r.owner = pdfNumber(before)
		}
		d.bracket(r, false)
	}
	r.forget()
}
