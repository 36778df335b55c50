package cost

import "bytes"

// pdfText is what a stream shows.
type pdfText struct {
	shown  int64            // bytes of strings
	forms  map[string]int64 // how often it shows others, by the names it has for them
	marked int64            // pieces whose text stands elsewhere
}

// pdfObjects is what the objects of a file say of each other.
type pdfObjects struct {
	pages, kids, count int64               // pages by three ways to count them
	kid                map[int64]pdfKid    // what is in the tree of pages
	lists              int                 // of what is in it
	shows              map[int64]int64     // how often an object is the content of a page, or in an array
	contents           map[int64]int64     // how often it is the content of a page
	named              map[string][]int64  // forms by their names
	known              map[pdfForName]bool // what is in named
	done               int                 // names in all streams' forms
	said               int64               // bytes of the longest text that stands for what is shown
}

// pdfKid is where something stands in the tree of pages.
type pdfKid struct {
	owner int64 // the object whose list it is in; 0: it is not known
	list  int
}

type pdfForName struct {
	name   string
	number int64
}

// pdfReader is where a piece of a file is being read, the words of objects and of what pages show alike.
type pdfReader struct {
	last, before string // the last name, and the one before it, if they stand together
	pending      string // the name whose value has not come
	inKids       bool
	owner        int64 // the object that is being read
	object, int  int64 // the last two numbers
	depth        int
	node         bool  // the dictionary is one of the tree of pages
	count        int64 // that it gives
}

// read takes what a piece of the file says of objects and shows as text. Comments are no reason to leave anything out: what
// looks like one may be within a string.
func (d *pdf) read(b []byte, text *pdfText) {
	var r pdfReader
	if text != &d.outside {
		text.shown = saturatingAdd(text.shown, pdfStrings(b))
	}
	d.widest = max(d.widest, pdfWidest(b))
	for i := 0; i < len(b) && !d.unreadable; {
		switch c := b[i]; {
		case c == '/':
			name, n := pdfName(b[i+1:])
			i += 1 + n
			d.name(&r, name, b[i:])
		case c >= '0' && c <= '9':
			i += d.number(&r, b[i:])
		case c == '[':
			if r.pending == "Kids" {
				r.inKids = true
				d.lists++
			}
			i++
		case c == ']':
			r.inKids = false
			i++
		case c == '<' || c == '>':
			r.pending = ""
			if i+1 < len(b) && b[i+1] == c {
				d.bracket(&r, c == '<')
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
			d.word(&r, b[i:i+n], text)
			i += n
		}
	}
	d.bracket(&r, false)
}

// bracket begins or ends a dictionary.
func (d *pdf) bracket(r *pdfReader, begins bool) {
	if begins {
		r.depth++
		return
	}
	if r.depth--; r.depth <= 0 {
		if r.node {
			d.count = max(d.count, r.count)
		}
		*r = pdfReader{last: r.last, inKids: r.inKids, owner: r.owner}
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
	r.before, r.last, r.pending = r.last, name, name
}

// lengthSaid is how many bytes the string has that begins here.
func (d *pdf) lengthSaid(b []byte) int64 {
	b = bytes.TrimLeft(b, " \t\r\n\x00\f")
	if len(b) == 0 || b[0] != '(' && b[0] != '<' {
		return unreadable // it stands elsewhere
	}
	end := 0
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
		r.object, r.int = r.int, number
		return digits
	}
	if r.inKids {
		d.kids++
		at := pdfKid{r.owner, d.lists}
		if was, ok := d.kid[number]; ok && (was.list == at.list || was.owner != at.owner || at.owner == 0) {
			d.unreadable = true // pages that are there more than once, unless their list is there anew
		}
		put(&d.kid, number, at)
	}
	switch name := r.pending; name {
	case "Kids":
		d.unreadable = d.unreadable || !r.inKids // the list stands elsewhere
	case "Contents":
		put(&d.contents, number, d.contents[number]+1)
		put(&d.shows, number, d.shows[number]+1)
	case "", "N", "D", "R": // in an array, or what an annotation looks like
		put(&d.shows, number, d.shows[number]+1)
	default:
		entry := pdfForName{name, number}
		if d.forms[number] && !d.known[entry] {
			put(&d.known, entry, true)
			put(&d.named, name, append(d.named[name], number))
		}
	}
	r.pending = ""
	d.unreadable = d.unreadable || max(len(d.shows), len(d.kid), len(d.known)) > mostPDFEntries
	return digits + end
}

// mostPDFEntries is of how many objects and names it is noted where they are used: a file with more has more pages than a model
// can read.
const mostPDFEntries = 1 << 18

// do notes that a form is shown.
func (d *pdf) do(text *pdfText, name string) {
	times := text.forms[name]
	if times == 0 {
		d.done++
		d.unreadable = d.unreadable || d.done > mostPDFEntries
	}
	put(&text.forms, name, times+1)
}

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

// word takes a word of what is shown, or between objects.
func (d *pdf) word(r *pdfReader, word []byte, text *pdfText) {
	switch string(word) {
	case "obj", "endobj":
		r.inKids, r.depth, r.owner = false, 0, 0
		if len(word) == len("obj") {
			r.owner = r.object
		}
		d.bracket(r, false)
	case "Do":
		if d.named != nil || len(d.forms) > 0 {
			d.do(text, r.last)
		}
	case "BDC":
		if r.pending != "" && r.before != "" { // both a tag and what it means are names
			text.marked++
		}
	}
	r.before = ""
}
