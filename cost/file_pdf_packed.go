package cost

import "bytes"

// packedObjects are the numbers of the objects in a stream of objects, by where they begin (section 7.5.7): pairs of numbers stand
// before the first.
func packedObjects(b []byte, first int64) map[int]int64 {
	if first <= 0 || first > int64(len(b)) {
		return nil
	}
	at := map[int]int64{}
	head := b[:first]
	next := func() (number int64, ok bool) {
		head = bytes.TrimLeft(head, pdfSpace)
		number, n := pdfInt(head)
		head = head[n:]
		return number, n > 0
	}
	for len(at) < mostPDFEntries {
		number, ok := next()
		offset, also := next()
		if !ok || !also {
			break
		}
		if begins := first + offset; begins < int64(len(b)) {
			at[int(begins)] = number
		}
	}
	return at
}

// beginsObject reports whether an object may begin in a string.
func beginsObject(b []byte) bool {
	for {
		i := bytes.Index(b, []byte("obj"))
		if i < 0 {
			return false
		}
		before := bytes.TrimRight(b[:i], pdfSpace)
		b = b[i+len("obj"):]
		if n := len(before); n > 0 && hexDigit[before[n-1]] < 10 && (len(b) == 0 || pdfEnds[b[0]]) {
			return true
		}
	}
}
