package cost

import "encoding/binary"

// Audio is what a request says about one recording.
type Audio struct {
	Milliseconds int64 // how long it is, or at most can be
	Measured     bool  // its header says how long it is
	Assistant    bool  // it is part of an assistant's message
}

// Milliseconds of sound that a token stands for, by who speaks (OpenAI's guide to the costs of the Realtime API).
const (
	userAudio      = 100
	assistantAudio = 50
)

// tokens is what the recording costs.
func (a Audio) tokens() int64 {
	if a.Assistant {
		return ceilDiv(max(0, a.Milliseconds), assistantAudio)
	}
	return ceilDiv(max(0, a.Milliseconds), userAudio)
}

// heard are the recordings that count by token: all, unless the call is to write them down and m is billed by their length.
func (r *Request) heard(m Model) []Audio {
	if r.Transcribes && m.DefaultOutput == 0 {
		return nil
	}
	return r.Audio
}

// AudioOf reads what a recording in base64 says about its length; only its headers are decoded. Uncompressed WAV says it.
// An MP3 file is taken to have the lowest rate there is, 8 kbit/s, and anything else 640 bit/s, at which no codec in use
// makes speech, so that it is never too short.
func AudioOf(data []byte) Audio {
	p, ok := dataURL(data)
	if !ok {
		p = payloadOf(data)
	}
	if length, ok := wavLength(p); ok {
		return Audio{Milliseconds: length, Measured: true}
	}
	if isMP3(p) {
		return Audio{Milliseconds: p.size()} // 1,000 bytes a second
	}
	return Audio{Milliseconds: p.size()*25/2 + 1} // 80 bytes a second
}

// isMP3 knows MPEG audio of layer III by its tag or its first frame (ISO 11172-3, 2.4.1.3).
func isMP3(p payload) bool {
	var b [3]byte
	n := p.read(b[:], 0)
	return n == 3 && (hasPrefix(b[:], "ID3") || b[0] == 0xff && b[1]&0xe6 == 0xe2)
}

// wavLength is how many milliseconds a WAV file lasts whose samples are not compressed. What the header says of its
// length is not asked: everything behind the head of the samples is taken for sound.
func wavLength(p payload) (milliseconds int64, ok bool) {
	const mostChunks = 64
	var b [24]byte
	if p.read(b[:12], 0) < 12 || !hasPrefix(b[:], "RIFF") || !hasPrefix(b[8:], "WAVE") {
		return 0, false
	}
	var perSecond int64
	at := int64(12)
	for range mostChunks {
		n := p.read(b[:], at)
		if n < 8 {
			return 0, false
		}
		size := int64(binary.LittleEndian.Uint32(b[4:]))
		switch {
		case hasPrefix(b[:], "fmt ") && n == len(b) && size >= 16:
			perSecond = wavRate(b[8:])
		case hasPrefix(b[:], "data"):
			return ceilDiv((p.size()-at-8)*1000, max(1, perSecond)), perSecond > 0
		}
		at += 8 + size + size&1
	}
	return 0, false
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
