package cost

// webmLength walks the elements of a WebM or Matroska file (RFC 8794 and RFC 9559). Packets of Opus are counted, one by one.
// Of other sound, what the file says of its length is taken, or the time of its last block, which is all that there is in
// what browsers record.
func webmLength(p payload) (length, bool) {
	w := webm{scan: p.scan(), unit: 1_000_000}
	at := int64(0)
	for at < p.size() && len(w.tracks) <= mostWebMTracks {
		id, head, size, ok := w.element(at)
		if !ok || at == 0 && id != webmHead {
			break
		}
		switch {
		case id == webmTrack:
			w.tracks = append(w.tracks, webmSound{})
		case webmHolds(id):
		case size < 0 || size > p.size()-at-head:
			return w.length(p.size() - at), true
		default:
			w.leaf(id, at+head, size)
			head += size
		}
		at += head
	}
	return w.length(p.size() - at), at > 0
}

// The elements that matter, by their numbers.
const (
	webmHead     = 0x1a45dfa3
	webmSegment  = 0x18538067
	webmInfo     = 0x1549a966
	webmUnit     = 0x2ad7b1 // nanoseconds of a tick
	webmDuration = 0x4489
	webmTracks   = 0x1654ae6b
	webmTrack    = 0xae
	webmNumber   = 0xd7
	webmType     = 0x83
	webmCodec    = 0x86
	webmEncoded  = 0x6d80 // packets are compressed or encrypted once more
	webmCluster  = 0x1f43b675
	webmTime     = 0xe7
	webmGroup    = 0xa0
	webmBlock    = 0xa1
	webmSimple   = 0xa3

	mostWebMTracks = 64
)

// webmHolds reports whether an element is gone into. Where it ends does not matter, which is as well: while something is
// recorded, nobody knows.
func webmHolds(id uint64) bool {
	switch id {
	case webmSegment, webmInfo, webmTracks, webmTrack, webmCluster, webmGroup:
		return true
	default:
		return false
	}
}

// element reads the head of an element: what it is, how many bytes the head has, and how many there are in it, of which -1
// says that nobody knows.
func (s *scan) element(at int64) (id uint64, head, size int64, ok bool) {
	if s.left <= 0 {
		return 0, 0, 0, false
	}
	s.left--
	var b [12]byte
	n := s.read(b[:], at)
	id, idBytes := ebmlNumber(b[:n])
	value, sizeBytes := ebmlNumber(b[min(n, idBytes):n])
	if idBytes == 0 || sizeBytes == 0 {
		return 0, 0, 0, false
	}
	mark := uint64(1) << (7 * sizeBytes)
	if value == mark<<1-1 {
		return id, int64(idBytes + sizeBytes), -1, true
	}
	size = int64(value &^ mark)
	return id, int64(idBytes + sizeBytes), size, true
}
