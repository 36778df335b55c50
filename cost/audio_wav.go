package cost

import "encoding/binary"

// wavLength is how long a WAV file lasts whose samples are not compressed. What the header says of its length is not
// asked: everything behind the head of the samples is taken for sound.
func wavLength(p payload) (length, bool) {
	const mostChunks = 64
	var b [24]byte
	if p.read(b[:12], 0) < 12 || !hasPrefix(b[:], "RIFF") || !hasPrefix(b[8:], "WAVE") {
		return length{}, false
	}
	var perSecond int64
	at := int64(12)
	for range mostChunks {
		n := p.read(b[:], at)
		if n < 8 {
			return length{}, false
		}
		size := int64(binary.LittleEndian.Uint32(b[4:]))
		switch {
		case hasPrefix(b[:], "fmt ") && n == len(b) && size >= 16:
			perSecond = wavRate(b[8:])
		case hasPrefix(b[:], "data"):
			return length{milliseconds: ceilDiv((p.size()-at-8)*1000, max(1, perSecond)), counted: true}, perSecond > 0
		}
		at += 8 + size + size&1
	}
	return length{}, false
}

// wavRate is how many bytes of uncompressed samples make a second, or 0. It reads the fields of a "fmt " chunk: format,
// channels, samples a second, bytes a second, bytes of all channels, bits of a sample.
func wavRate(b []byte) int64 {
	const mostSamples, mostChannels, mostBits = 384_000, 32, 64
	channels, samples := int64(binary.LittleEndian.Uint16(b[2:])), int64(binary.LittleEndian.Uint32(b[4:]))
	bits := int64(binary.LittleEndian.Uint16(b[14:]))
	switch binary.LittleEndian.Uint16(b) {
	case 1, 3, 6, 7, 0xfffe: // PCM, floats, A-law, µ-law, and what names its format elsewhere, of which only these are usual
	default:
		return 0
	}
	if samples > mostSamples || channels > mostChannels || bits > mostBits {
		return 0
	}
	return samples * channels * ((bits + 7) / 8)
}
