package cost

import "math"

// Audio is what a request says about one recording.
type Audio struct {
	Milliseconds int64 // how long it is, or at most can be
	Measured     bool  // the file says how long it is, and that can be
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

// AudioOf reads how long a recording in base64 lasts. Of a file only headers are decoded, at most a quarter of a million of
// them; FLAC is searched for them, as its frames do not say how long they are. Uncompressed WAV says how long it is by its size,
// and MP3, Opus and FLAC by their frames, one by one. What MP4, WebM and Vorbis files merely claim is taken as far as their size
// allows it: see length. Anything else is taken to have 640 bit/s, at which no codec in use makes speech, so that it is never
// too short.
func AudioOf(data []byte) Audio {
	p, ok := dataURL(data)
	if !ok {
		p = payloadOf(data)
	}
	return p.audio()
}

// AudioOfFile is AudioOf for a recording as it is, not in base64.
func AudioOfFile(data []byte) Audio { return payload{text: data, raw: true}.audio() }

// audio finds the format by the file's first bytes, or by those behind a tag.
func (p payload) audio() Audio {
	if !p.plain(p.size()) {
		return Audio{Milliseconds: slowest(p.size())}
	}
	p, tagged := p.behindTags()
	for _, read := range [...]func(payload) (length, bool){wavLength, flacLength, oggLength, mp4Length, webmLength} {
		if l, ok := read(p); ok {
			return l.of(p.size())
		}
	}
	if l, ok := mpegLength(p, tagged); ok {
		return l.of(p.size())
	}
	return Audio{Milliseconds: slowest(p.size())}
}

// length is how long a file lasts by what it says.
type length struct {
	milliseconds int64 // 0: it does not say

	// counted: it is the sum of what the sound is made of, and no decoder would find another.
	counted bool
	// uncounted is how much longer it may be, where some of it was not looked at.
	uncounted int64
	// rate is bits a second that such a file does not exceed, but for some bytes beside the sound. A claim that would take
	// more is too short.
	rate, beside int64
	// played is how long it is at least by its packets, whatever it says and however small it is.
	played int64
}

// The most bits a second that a file of some kind has. Files that are not to be doubted stay below, so that their claims
// stand as they are; whoever makes a file to be cheap can make it seem shorter by as much as it stays below, and no more.
const (
	// mostLossy: AC-3 has 640,000 (ATSC A/52, table 5.18), AAC twice 288,000 (ISO/IEC 14496-3: 6,144 bits for a channel in
	// each 1,024 samples, at 48 kHz), Opus 510,000 (RFC 6716, section 2), Vorbis 500,000 at its highest quality.
	mostLossy = 640_000
	// mostLossless is what two channels of 24 bits have uncompressed at 96 kHz.
	mostLossless = 2 * 24 * 96_000
	// mostVideo is the most that H.264 may have where recordings are 1080 lines high (ITU-T H.264, table A-1, level 4).
	mostVideo = 20_000_000
)

// of is the length as it can be of a file that has so many bytes.
func (l length) of(size int64) Audio {
	said := saturatingAdd(l.milliseconds, l.uncounted)
	if l.counted {
		return Audio{Milliseconds: said, Measured: l.uncounted == 0}
	}
	size = max(0, size-l.beside)
	if said <= 0 {
		return Audio{Milliseconds: max(slowest(size), l.played)}
	}
	least := ceilDiv(saturatingMul(size, 8*1000), max(1, l.rate))
	can := max(min(max(said, least), slowest(size)), l.played)
	return Audio{Milliseconds: can, Measured: can == l.milliseconds}
}

// slowest is how long a file can last at most: 80 bytes a second.
func slowest(size int64) int64 { return size*25/2 + 1 }

// LongestAudio is how many milliseconds a file of so many bytes lasts at most, unless it holds silence of which hardly more
// is said than that it is there.
func LongestAudio(bytes int64) int64 { return slowest(min(max(0, bytes), math.MaxInt64/25)) }

// slowSpeech is how long bytes last at 6,000 bits a second, the lowest rate that speech is made at by a codec that is
// common on the web (Opus: RFC 6716, section 2).
func slowSpeech(size int64) int64 { return ceilDiv(saturatingMul(max(0, size), 8), 6) }

// scan is a payload of which no more than so many headers are looked at, whatever it is made of.
type scan struct {
	payload
	left int
}

const mostHeaders = 1 << 18

func (p payload) scan() *scan { return &scan{p, mostHeaders} }

// header reads a header, and says whether it is there as a whole.
func (s *scan) header(dst []byte, at int64) bool {
	if s.left <= 0 {
		return false
	}
	s.left--
	return s.read(dst, at) == len(dst)
}
