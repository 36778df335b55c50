package cost

import (
	"bytes"
	"encoding/binary"
)

// zipEntry begins a file in a ZIP archive.
const zipEntry = "PK\x03\x04"

// zipListed begins an entry of its list.
const zipListed = "PK\x01\x02"

// zipTokens is what the files in a ZIP archive may be as text. They are found by their heads, wherever these stand, not by
// the archive's list, which may leave some out that a reader finds, and inflated whatever is said of how they are packed.
func zipTokens(archive []byte, f *inflater) int64 {
	z := zipped{inflater: f}
	for at := 0; ; {
		i := bytes.Index(archive[at:], []byte(zipEntry))
		if i < 0 {
			break
		}
		at += i
		if !z.entry(archive[at:]) {
			return unreadable
		}
		at += len(zipEntry)
	}
	if !zipKnown(archive) {
		return unreadable
	}
	return z.sum()
}

// zipKnown reports whether the archive's list has nothing in it that is packed in a way that is not looked into, or encrypted, or
// there under two names: some readers do not mind what name it has itself.
func zipKnown(archive []byte) bool {
	const head = 46
	begins := map[uint32]bool{}
	for at := 0; ; at += len(zipListed) {
		i := bytes.Index(archive[at:], []byte(zipListed))
		if i < 0 {
			return true
		}
		at += i
		b := archive[at:]
		if len(b) < head {
			continue
		}
		offset := binary.LittleEndian.Uint32(b[42:])
		if begins[offset] || !zipReadable(b[8:]) {
			return false
		}
		begins[offset] = true
	}
}

// zipReadable reads flags and method of a file: it is not encrypted, and stored or deflated.
func zipReadable(b []byte) bool {
	const encrypted, stored, deflated = 1, 0, 8
	method := binary.LittleEndian.Uint16(b[2:])
	return b[0]&encrypted == 0 && (method == stored || method == deflated)
}

// zipped is what is known of an archive so far.
type zipped struct {
	*inflater
	tokens int64
	name   []byte // of the file that is being read
	cells  sharedCells
	notes  notes
}

// entry counts the file whose head stands here, and reports whether that could be done.
func (z *zipped) entry(b []byte) bool {
	const head = 30
	if len(b) < head {
		return true
	}
	if !zipReadable(b[6:]) {
		return false
	}
	stored := binary.LittleEndian.Uint16(b[8:]) == 0
	name := int(binary.LittleEndian.Uint16(b[26:]))
	begins := head + name + int(binary.LittleEndian.Uint16(b[28:]))
	if begins > len(b) {
		return true
	}
	z.name = b[head:][:min(name, len(b)-head)]
	content := b[begins:]
	out, whole, err := z.inflate(content)
	if err != nil || !whole && !stored {
		return false
	}
	z.part(out, z.nested(out))
	if stored {
		return z.store(content, int(binary.LittleEndian.Uint32(b[18:])))
	}
	return z.tokens < unreadable
}

// store counts a file that is not packed. It ends where it is said to end, or where another begins behind that.
func (z *zipped) store(content []byte, size int) bool {
	size = max(0, min(size, len(content)))
	size += nextInZIP(content[size:])
	if z.left -= size; z.left < 0 {
		return false
	}
	nested := int64(0)
	if !isZIP(content[:size]) { // or what is in it has been found as well
		nested = z.nested(content[:size])
	}
	z.part(content[:size], nested)
	return z.tokens < unreadable
}

// nextInZIP is where the next file or entry of the list begins, or the end.
func nextInZIP(b []byte) int {
	for at := 0; ; at += len("PK") {
		i := bytes.Index(b[at:], []byte("PK"))
		if i < 0 {
			return len(b)
		}
		at += i
		if next := b[at:]; bytes.HasPrefix(next, []byte(zipEntry)) || bytes.HasPrefix(next, []byte(zipListed)) {
			return at
		}
	}
}

// part counts what one file holds, and a document that it is.
func (z *zipped) part(content []byte, nested int64) {
	if len(content) == 0 {
		return
	}
	if bytes.Contains(z.name, []byte(".iwa")) { // packed once more, three bytes for 64 at most
		const most = 22
		z.tokens = saturatingAdd(z.tokens, saturatingAdd(int64(len(content))*most, nested))
		return
	}
	text := xmlText(content)
	if wide := fromUTF16(content); wide != nil {
		content = wide
		text = max(text, int64(len(content)))
	}
	if !shownOnce(content) || bytes.Contains(content, []byte(".sheet.binary")) {
		z.tokens = unreadable
		return
	}
	text = saturatingAdd(saturatingAdd(text, signText(content)), saturatingAdd(repeatedText(content, 0), nested))
	z.tokens = saturatingAdd(z.tokens, text)
	z.cells.read(content)
	z.notes.read(content, text)
}

// sum is what all of it comes to.
func (z *zipped) sum() int64 {
	return saturatingAdd(z.tokens, saturatingAdd(z.cells.tokens(), z.notes.text()))
}
