package cost

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
)

// errTooMuch says that a document has more in it than is looked at.
var errTooMuch = errors.New("more than is looked at")

// inflater inflates the parts of a document, all of them together no further than its size allows: a document that is not made to
// seem small stays far below.
type inflater struct {
	left   int // bytes that may still come out, and go in
	all    int // what left was
	flate  io.ReadCloser
	source bytes.Reader
	out    []byte // kept for the next

	depth  int       // in how many documents its own is
	within *inflater // for those in its own; kept for the next
}

// The bytes that come out of a document at most, for each of its own and besides. Text that people wrote shrinks to a fifth,
// the tables of a spreadsheet to a twentieth.
const (
	mostInflation = 32
	mostBesides   = 16 << 10
	mostInflated  = 32 << 20 // of all documents of a request: a large one is not to take the memory and the time of all others
	mostPart      = 8 << 20  // of one part, which is held: as text it is more than models hold
)

// inflater is one for a document of that size.
func (d *Documents) inflater(size int) *inflater {
	left := max(0, min(mostBesides+mostInflation*size, mostInflated-d.taken))
	return &inflater{left: left, all: left}
}

// taken is what it has taken of its bound.
func (f *inflater) taken() int { return min(f.all, f.all-f.left) }

// inflate is what a part that begins here holds, up to where it ends or is broken, as readers show it that go on in spite of that;
// whole says that it is not. It is valid until the next call.
func (f *inflater) inflate(from []byte) (out []byte, whole bool, err error) {
	const toBegin = 256 // it takes as long as that many bytes
	f.left -= toBegin
	f.source.Reset(from)
	if f.flate == nil {
		f.flate = flate.NewReader(&f.source)
	} else if err := f.flate.(flate.Resetter).Reset(&f.source, nil); err != nil {
		return nil, false, err
	}
	f.out = f.out[:0]
	for {
		if len(f.out) == cap(f.out) {
			f.out = append(f.out, make([]byte, max(4<<10, cap(f.out)))...)[:len(f.out)]
		}
		before, begun := f.source.Len(), len(f.out)
		n, err := f.flate.Read(f.out[begun:cap(f.out)])
		f.out = f.out[:begun+n]
		if f.left -= n + before - f.source.Len(); f.left < 0 || len(f.out) > mostPart {
			return f.out, false, errTooMuch
		}
		if err != nil {
			return f.out, errors.Is(err, io.EOF), nil
		}
	}
}

// zlibHead reports whether what begins here is compressed as PDF files have it (RFC 1950).
func zlibHead(b []byte) bool {
	return len(b) > 2 && b[0]&15 == 8 && (int(b[0])<<8|int(b[1]))%31 == 0 && b[1]&0x20 == 0
}
