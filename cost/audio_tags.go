package cost

import "encoding/binary"

// behindTags is what follows the ID3v2 tags that a file begins with, which formats of all kinds have, and whether there
// were any.
func (p payload) behindTags() (behind payload, tagged bool) {
	const mostTags = 16
	for range mostTags {
		size := id3Size(p, 0)
		if size == 0 {
			return p, tagged
		}
		p, tagged = p.from(size), true
	}
	return p, tagged
}

// id3Size is how many bytes an ID3v2 tag has (id3.org, ID3v2.4.0, section 3.1), or 0 where there is none. Its length is in
// seven bits of each byte.
func id3Size(p payload, at int64) int64 {
	var b [10]byte
	if p.read(b[:], at) < len(b) || !hasPrefix(b[:], "ID3") || b[3] == 0xff || b[4] == 0xff {
		return 0
	}
	size := int64(0)
	for _, c := range b[6:] {
		if c >= 0x80 {
			return 0
		}
		size = size<<7 | int64(c)
	}
	const head = 10
	if b[5]&0x10 != 0 {
		size += head // it is repeated at the end
	}
	return head + size
}

// tag is how many bytes a tag among frames has, or 0: ID3v1, which are the last 128 bytes, or an ID3v2 or APE tag. Decoders
// look for frames in the latter two as well, so that all of it may be sound, a byte a millisecond.
func (s *scan) tag(at int64) (size, sound int64) {
	if s.left <= 0 {
		return 0, 0
	}
	s.left--
	const last, head = 128, 32
	var b [16]byte
	n := s.read(b[:], at)
	switch {
	case hasPrefix(b[:n], "TAG") && at == s.size()-last:
		return last, 0
	case hasPrefix(b[:n], "ID3"):
		size = id3Size(s.payload, at)
	case hasPrefix(b[:n], "APETAGEX") && n == len(b):
		size = head + int64(binary.LittleEndian.Uint32(b[12:]))
	}
	size = min(size, s.size()-at)
	return size, size
}
