package cost

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
	isStream, referred map[int64]bool      // objects that are streams, and those that others refer to
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
