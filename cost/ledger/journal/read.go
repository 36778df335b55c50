package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// File is what one file of a journal holds.
type File struct {
	Path  string
	Batch *ledger.Batch // the rows that are whole, of the first batch; nil: there are none

	// Damage is what shows that there were more rows than those; empty: what follows them, if anything does, is what a process leaves that
	// is killed, and nobody has had an answer whose rows are not there.
	Damage string
	Offset int64 // of the frame that is damaged, in bytes
	Newest int64 // of the batches with whole frames in it, behind the damage, too; 0: there is none
}

// Read reads what files the journal at path has of the ledger with an identity, in the order of their batches. Which of the rows are in the
// ledger already, it does not say. Rows that are whole, and that this program cannot read, are an error: they are not to be forgotten.
func Read(path string, identity int64) ([]File, error) {
	var list []File
	for _, name := range Names(path) {
		content, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the journal of the ledger: %w", err)
		}
		f, err := decode(content, uint64(identity))
		if err != nil {
			return nil, fmt.Errorf("read the journal of the ledger, %s: %w", name, err)
		}
		f.Path = name
		list = append(list, f)
	}
	slices.SortStableFunc(list, func(a, b File) int { return int(min(max(a.first()-b.first(), -1), 1)) })
	return list, nil
}

func (f *File) first() int64 {
	if f.Batch == nil {
		return f.Newest
	}
	return f.Batch.Number
}

// errForeign says that rows are not those that this program writes.
var errForeign = errors.New("another version of this program wrote it, and was killed; start that version once more and stop it in order, " +
	"or remove the file, and the calls of its last moments are charged to nobody")

// decode reads the frames of one file, as far as they are of one batch, and judges what is behind.
func decode(content []byte, identity uint64) (f File, err error) {
	rest := content
	for {
		more, behind, err := next(rest, identity)
		if errors.Is(err, errForeign) {
			return File{}, err
		}
		if b := f.Batch; err != nil || b != nil && (more.Number != b.Number || more.Slot != b.Slot) {
			f.judge(content, len(content)-len(rest), identity)
			return f, nil
		}
		rest = behind
		if f.Batch == nil {
			f.Batch, f.Newest = more, more.Number
			continue
		}
		add(f.Batch, more)
	}
}

// add adds rows to those of the same batch.
func add(b, more *ledger.Batch) {
	b.Prices = append(b.Prices, more.Prices...)
	b.Begins = append(b.Begins, more.Begins...)
	b.Draws = append(b.Draws, more.Draws...)
	b.Ends = append(b.Ends, more.Ends...)
	b.Corrections = append(b.Corrections, more.Corrections...)
	b.Notices = append(b.Notices, more.Notices...)
	b.Owned = append(b.Owned, more.Owned...)
	b.Grown = append(b.Grown, more.Grown...)
}

// head is what a frame says of itself, before it is known whether that is so.
type head struct {
	size     int64 // of all of it
	identity uint64
	number   int64
	slot     int
	format   uint16
}

// headOf reads the head of a frame, and reports whether there is one.
func headOf(content []byte) (h head, ok bool) {
	if len(content) < frameHead {
		return head{}, false
	}
	get := binary.LittleEndian
	return head{
		size: frameHead + int64(get.Uint32(content[4:])), identity: get.Uint64(content[8:]),
		number: int64(get.Uint64(content[16:])), slot: int(get.Uint16(content[24:])), format: get.Uint16(content[26:]),
	}, true
}

// whole reports whether a frame is there up to its end, as it was written.
func (h head) whole(content []byte) bool {
	return h.size <= int64(len(content)) && crc32.Checksum(content[4:h.size], castagnoli) == binary.LittleEndian.Uint32(content)
}

// next reads one frame.
func next(content []byte, identity uint64) (b *ledger.Batch, rest []byte, err error) {
	h, ok := headOf(content)
	switch {
	case !ok:
		return nil, nil, io.EOF
	case h.size > int64(len(content)):
		return nil, nil, io.ErrUnexpectedEOF
	case h.identity != identity || !h.whole(content):
		return nil, nil, errors.New("no frame of this ledger's")
	case h.format != format:
		return nil, nil, fmt.Errorf("its format is %d, and the one known here is %d: %w", h.format, format, errForeign)
	}
	b = &ledger.Batch{Number: h.number, Slot: h.slot}
	c := codec{reading: true, frame: content[frameHead:h.size]}
	batch(&c, b)
	if c.err == nil && len(c.frame) > 0 {
		c.err = errors.New("there is more in a frame than its rows")
	}
	if c.err != nil {
		return nil, nil, fmt.Errorf("%w: %w", c.err, errForeign)
	}
	return b, content[h.size:], nil
}
