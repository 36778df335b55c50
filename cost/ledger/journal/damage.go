package journal

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// pageSize is the size of the smallest pages there are. What a process that is killed leaves of the frame that it was writing is a number of
// whole pages of it: the system breaks a write off between two pages only.
const pageSize = 4096

// judge looks at what follows the frames that were read, from an offset on. Most often that is the rest of an earlier batch; and the last
// frame is torn if the process was killed as it wrote it, in which case nobody waits for its rows any more. All else is damage:
//
//   - whole frames behind, of the same batch or a later one: frames are written one after the other;
//   - a frame of the same batch that lies within one page, and is all there, but not as it was written;
//   - a file that does not begin with a frame, unless that is longer than the file, or over a page and only frames of earlier batches are
//     behind it, in later pages: those that the one that was torn did not come to write over.
//
// A power loss leaves any page as it was at some time before, so that it looks like damage; and then, too, rows may be missing.
func (f *File) judge(content []byte, at int, identity uint64) {
	rest := content[at:]
	if len(rest) == 0 {
		return
	}
	f.Offset = int64(at)
	first, behind, number, found := f.later(rest, identity)
	if found {
		f.Newest = max(f.Newest, number)
	}
	h, ok := headOf(rest)
	ours := ok && h.identity == identity && (f.Batch == nil || h.number == f.Batch.Number)
	cut := ours && h.size > int64(len(rest))
	torn := cut || ours && int64(at)/pageSize != (int64(at)+h.size-1)/pageSize
	older := found && ours && number < h.number && first >= pageSize // what is behind is, and a page was written
	switch {
	case f.Batch == nil && ok && h.identity != identity && h.whole(rest):
		f.Damage = "it begins with rows of another ledger"
	case f.Batch == nil && len(content) >= pageSize && (cut && !found || torn && older):
	case f.Batch == nil:
		f.Damage = "it does not begin with rows as they were written"
	case found && behind == 0:
		f.Damage = "rows of a later batch follow those of an earlier one"
	case found:
		f.Damage = fmt.Sprintf("there are rows as they were written %d bytes behind those that are not", behind)
	case ours && !torn:
		f.Damage = "rows are there up to their end, but not as they were written"
	}
}

// later finds the whole frames of this ledger that are no older than the batch that was read, if one was: how far behind the first of them is,
// and the first of the newest.
func (f *File) later(rest []byte, identity uint64) (first, at int, number int64, found bool) {
	ledger := binary.LittleEndian.AppendUint64(nil, identity)
	for from := 8; from < len(rest); { // where a frame says which ledger it is of
		i := bytes.Index(rest[from:], ledger)
		if i < 0 {
			break
		}
		start := from + i - 8
		h, ok := headOf(rest[start:])
		if !ok {
			break
		}
		from += i + 1
		if f.Batch != nil && h.number < f.Batch.Number || !h.whole(rest[start:]) {
			continue
		}
		from = start + int(h.size) + 8
		if !found {
			first = start
		}
		if !found || h.number > number {
			at, number, found = start, h.number, true
		}
	}
	return first, at, number, found
}
