package cost

import (
	"bytes"
	"slices"
)

// content counts what a stream shows: its strings, and how often it shows other streams. What looks like a comment may be within a
// string, and the other way around: so what is in a line behind a % counts, and what stands before it as well.
func (d *pdf) content(b []byte, text *pdfText) {
	text.shown = saturatingAdd(text.shown, pdfStrings(b))
	var names []string // that the next operator may have
	comment, hidden, named, tagged := false, false, false, false
	for i := 0; i < len(b) && !d.unreadable; {
		c := b[i]
		i++
		switch {
		case c == '\n' || c == '\r':
			comment = false
		case c == '%':
			comment, hidden = true, true
		case c == '/':
			name, n := pdfName(b[i:])
			i += n
			tagged, named = named, true
			if !comment {
				names = names[:0]
			}
			names = d.candidate(names, name)
		case c == '<' || c == '>':
			named = false
		case pdfEnds[c]:
		default:
			from := i - 1
			for i < len(b) && !pdfEnds[b[i]] {
				i++
			}
			switch string(b[from:i]) {
			case "Do":
				for _, name := range names {
					d.do(text, name)
				}
				names = names[:0]
			case "gs": // shows what a mask is made of
				d.do(text, "G")
			case "BDC":
				if named && tagged || hidden { // both a tag and what it means are names
					text.marked++
				}
				hidden = false
			}
			if c < '0' || c > '9' {
				named = false
			}
		}
	}
}

// candidate adds a name to those that may be meant.
func (d *pdf) candidate(names []string, name string) []string {
	const most = 16
	if slices.Contains(names, name) {
		return names
	}
	if len(names) == most {
		d.unreadable = d.unreadable || len(d.forms) > 0
		return names
	}
	return append(names, name)
}

// do notes that a form is shown.
func (d *pdf) do(text *pdfText, name string) {
	if len(d.forms) == 0 {
		return
	}
	times := text.forms[name]
	if times == 0 {
		d.done++
		d.unreadable = d.unreadable || d.done > mostPDFEntries
	}
	put(&text.forms, name, times+1)
}

// hasText reports whether anything is shown, by itself or within others.
func (t *pdfText) hasText() bool { return t.shown > 0 || len(t.forms) > 0 || t.marked > 0 }

// firstOf is where a word begins first, or the end.
func firstOf(b []byte, word string) int {
	if i := bytes.Index(b, []byte(word)); i >= 0 {
		return i
	}
	return len(b)
}
