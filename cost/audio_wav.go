package cost

import (
	"encoding/binary"
	"math"
)

// wavLength is how long a WAV file lasts whose samples are not compressed. What the header says of its length is not
// asked: everything behind the head of the samples is taken for sound.
func wavLength(p payload) (length, bool) {
	const mostChunks = 64
	var b [8 + wavFormat]byte
	if p.read(b[:12], 0) < 12 || !hasPrefix(b[:], "RIFF") || !hasPrefix(b[8:], "WAVE") {
		return length{}, false
	}
	perSecond := int64(math.MaxInt64)
	at := int64(12)
	for range mostChunks {
		n := p.read(b[:], at)
		if n < 8 {
			return length{}, false
		}
		size := int64(binary.LittleEndian.Uint32(b[4:]))
		switch {
		case hasPrefix(b[:], "fmt "):
			perSecond = min(perSecond, wavRate(b[8:min(int64(n), 8+size)])) // whichever of several a decoder takes
		case hasPrefix(b[:], "data"):
			if perSecond <= 0 || perSecond == math.MaxInt64 {
				return length{}, false
			}
			at += 8
			l := length{milliseconds: ceilDiv((p.size()-at)*1000, perSecond), counted: true}
			return l.orMPEG(p.from(at)), true
		}
		at += 8 + size + size&1
	}
	return length{}, false
}

// orMPEG is the length where what is called samples is frames of MPEG audio instead, which some decoders look for.
func (l length) orMPEG(sound payload) length {
	const search, inRow = 1 << 14, 4
	s := sound.scan()
	first, ok := s.nextFrame(0, search)
	for at, n := first, 0; ok && n < inRow; n++ {
		var f mpegFrame
		if f, ok = s.frame(at); ok {
			ok = s.follows(f, at)
			at += f.size
		}
	}
	if !ok {
		return l
	}
	if frames, is := mpegLength(sound.from(first), false); is {
		l.uncounted = max(0, saturatingAdd(frames.milliseconds, frames.uncounted)-l.milliseconds)
	}
	return l
}

// wavFormat is how many bytes of a "fmt " chunk are read: with what the extensible form has behind the others.
const wavFormat = 40

// wavRate is how many bytes of uncompressed samples make a second, or 0. It reads the fields of a "fmt " chunk: format,
// channels, samples a second, bytes a second, bytes of all channels, bits of a sample. Decoders differ in which of them they
// go by: the one that makes it the longest is taken.
func wavRate(b []byte) int64 {
	const mostChannels, mostBits = 8, 64 // floats have as many
	const plain, extended = 16, 0xfffe
	if len(b) < plain {
		return 0
	}
	format := binary.LittleEndian.Uint16(b)
	if format == extended {
		if len(b) < wavFormat || !hasPrefix(b[26:], wavFormats) {
			return 0
		}
		format = binary.LittleEndian.Uint16(b[24:])
	}
	channels, samples := int64(binary.LittleEndian.Uint16(b[2:])), int64(binary.LittleEndian.Uint32(b[4:]))
	perSecond, ofAll := int64(binary.LittleEndian.Uint32(b[8:])), int64(binary.LittleEndian.Uint16(b[12:]))
	bits := int64(binary.LittleEndian.Uint16(b[14:]))
	switch format {
	case 1, 3: // PCM, floats
	case 6, 7: // A-law, µ-law
		bits = min(bits, 8)
	default:
		return 0
	}
	if samples > mostHertz || channels > mostChannels || bits > mostBits {
		return 0
	}
	return min(samples*channels*((bits+7)/8), samples*ofAll, perSecond)
}

// wavFormats is the GUID by which the extensible form names formats, but for the first two bytes, which are their number
// elsewhere (RFC 2361).
const wavFormats = "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"
