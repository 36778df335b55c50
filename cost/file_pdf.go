package cost

import (
	"bytes"
	"encoding/ascii85"
	"encoding/hex"
	"strings"
)

// pdfTokens is what a PDF file may be (ISO 32000-1): each byte of what it shows as text, as often as it is shown, and a picture
// of each page. What cannot be read, because it is encrypted or packed in a way that is not known here, makes it unreadable.
//
// Nothing is found by the file's tables, which readers repair where they are wrong: everything counts that is anywhere in the
// file. Pictures and fonts are not looked into, unless they may be read as something else.
func pdfTokens(file []byte, f *inflater) int64 {
	d := pdf{inflater: f, file: file, forms: map[int64]bool{}}
	d.find()
	d.read(file, &d.outside)
	for i := range d.streams {
		if d.unreadable {
			return unreadable
		}
		d.unpack(&d.streams[i])
	}
	return d.tokens()
}

// pdf is what is known of a file so far.
type pdf struct {
	*inflater
	pdfObjects
	file    []byte
	streams []pdfStream
	forms   map[int64]bool // numbers of streams that others show within themselves

	outside    pdfText // of all that is in no stream
	lexed      int     // bytes of the file that were counted because they are packed in no way
	widest     int64   // tokens that a byte of text may stand for
	unreadable bool
}

// pdfStream is one stream: text, a picture, a font or other objects.
type pdfStream struct {
	numbers  []int64 // of its object, or those that may be
	at       int     // where its data begins
	length   int64   // that it is said to have
	lengthIn []int64 // objects that say so; 0: it is not known where
	kind     pdfKind
	filters  pdfFilter
	pattern  bool // it may fill areas
	table    bool // of places of objects
	pdfText
}

const mostPDFStreams = 1 << 18

// find finds whatever may be a stream. What ends one is not looked for: another may begin in its midst, for readers that go by
// the length that it is said to have.
func (d *pdf) find() {
	word := []byte("stream")
	for at := 0; ; {
		i := bytes.Index(d.file[at:], word)
		if i < 0 {
			return
		}
		at += i + len(word)
		head := d.file[:at-len(word)]
		if bytes.HasSuffix(head, []byte("end")) {
			continue
		}
		if d.unreadable || len(d.streams) == mostPDFStreams {
			d.unreadable = true
			return
		}
		s := pdfStream{at: at}
		for _, end := range []string{"\r\n", "\n", "\r"} {
			if bytes.HasPrefix(d.file[at:], []byte(end)) {
				s.at += len(end)
				break
			}
		}
		d.head(head, &s)
		for _, number := range s.numbers {
			put(&d.isStream, number, true)
		}
		if s.kind == pdfForm {
			for _, number := range s.numbers {
				d.forms[number] = true
			}
		}
		d.streams = append(d.streams, s)
	}
}

// unpack counts what a stream holds.
func (d *pdf) unpack(s *pdfStream) {
	if s.kind == pdfUnshown {
		return
	}
	defer func() { d.unreadable = d.unreadable || s.pattern && s.hasText() }()
	data := d.file[s.at:]
	switch {
	case s.filters&filterUnknown != 0:
		d.unreadable = true
		return
	case s.filters&filterASCII != 0:
		data = d.ascii(data, s.filters)
	}
	// The head is looked at as well: a reader that repairs files finds the filter by what it sees.
	begins := data[len(data)-len(bytes.TrimLeft(data, " \t\r\n\x00")):]
	packed := zlibHead(begins) || s.filters&filterFlate != 0
	if !packed {
		if s.filters&(filterOther|filterHidden) != 0 || s.filters&filterASCII != 0 && len(data) == 0 {
			d.unreadable = true
			return
		}
		d.plain(s)
		if s.filters&filterASCII != 0 {
			d.read(data, &s.pdfText)
		}
		return
	}
	const deepest = 4
	for depth := 0; ; depth++ {
		out, whole, err := d.inflate(begins[min(2, len(begins)):])
		if err != nil || depth == deepest || depth == 0 && !(whole && zlibHead(begins)) { // some readers go on behind what is broken
			d.unreadable = true
			return
		}
		d.read(out, &s.pdfText)
		if !zlibHead(out) {
			return
		}
		begins = bytes.Clone(out) // what comes out next takes its place
	}
}

// plain counts what is packed in no way, up to where it ends, and no less than it is said to have.
func (d *pdf) plain(s *pdfStream) {
	data := d.file[min(s.at, len(d.file)):]
	for _, number := range s.lengthIn {
		length, ok := d.ints[number]
		d.unreadable = d.unreadable || !ok
		s.length = max(s.length, length)
	}
	end := max(firstOf(data, "endstream"), int(min(s.length, int64(len(data)))))
	if d.left -= min(end, max(0, d.lexed-s.at)); d.left < 0 { // what counted before
		d.unreadable = true
		return
	}
	d.lexed = max(d.lexed, s.at+end)
	d.content(data[:end], &s.pdfText)
}

const pdfSpace = " \t\r\n\x00\f"

// ascii takes away what makes bytes letters.
func (d *pdf) ascii(data []byte, filters pdfFilter) []byte {
	ends := "~" // or it goes on to the end of the stream
	if filters&filterHex != 0 {
		ends = ">"
	}
	data = bytes.TrimPrefix(bytes.TrimLeft(data, pdfSpace), []byte("<~"))
	data = data[:min(firstOf(data, ends), max(firstOf(data, "\nendstream"), firstOf(data, "\rendstream")))]
	if d.left -= len(data); d.left < 0 {
		d.unreadable = true
		return nil
	}
	if filters&filterHex != 0 {
		digits := make([]byte, 0, len(data)+1)
		for _, c := range data {
			switch {
			case hexDigit[c] < 16:
				digits = append(digits, c)
			case strings.IndexByte(pdfSpace, c) < 0: // some readers take it for a digit
				d.unreadable = true
				return nil
			}
		}
		digits = append(digits, '0')
		out := make([]byte, len(digits)/2)
		n, _ := hex.Decode(out, digits[:len(digits)/2*2])
		return out[:n]
	}
	out := make([]byte, 4*len(data)+4) // z is four zeros
	n, _, err := ascii85.Decode(out, data, true)
	if err != nil {
		d.unreadable = true
	}
	return out[:n]
}
