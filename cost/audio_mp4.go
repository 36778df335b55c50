package cost

import (
	"bytes"
	"encoding/binary"
	"math"
)

// mp4Length reads the boxes of an MP4 or QuickTime file (ISO 14496-12) that say how long it is: the whole, each track of
// sound, and the number of packets in it, whether they are listed at the beginning or piece by piece. What says the most is
// taken; a decoder plays every packet, whatever is said of their length.
func mp4Length(p payload) (length, bool) {
	var b [8]byte
	if p.read(b[:], 0) < len(b) {
		return length{}, false
	}
	switch string(b[4:]) {
	case "ftyp", "moov", "mdat", "wide", "free", "skip":
	default:
		return length{}, false
	}
	m := mp4{scan: p.scan()}
	m.boxes(0, p.size(), 0)
	return m.length(), true
}

// mp4 is what is known of a file so far.
type mp4 struct {
	*scan
	whole  int64 // milliseconds
	tracks []mp4Track
	open   int    // one more than the track that is being read; 0: none
	each   uint32 // what a packet lasts in the piece that is being read
}

// mp4Track is one track. Times are in parts of a second, of which there are parts.
type mp4Track struct {
	id, each      uint32 // each: what a packet lasts where nothing else is said
	parts         int64
	duration, sum int64 // as stated, and of the pieces
	packets       int64
	codec         [4]byte
	hertz         int64
	sound, video  bool
}

const mostMP4Tracks = 64

// boxes reads the boxes between two bytes. Those that hold others are gone into.
func (m *mp4) boxes(from, to int64, depth int) {
	const deepest = 8
	var b [16]byte
	for from < to && depth < deepest && m.header(b[:8], from) {
		size, head := int64(binary.BigEndian.Uint32(b[:])), int64(8)
		switch size {
		case 0:
			size = to - from
		case 1:
			if m.read(b[8:], from+8) < 8 {
				return
			}
			size, head = int64(binary.BigEndian.Uint64(b[8:])), 16
		}
		if size < head || head > to-from { // what holds it may end before its head does
			return
		}
		end := from + min(size, to-from)
		switch kind := [4]byte(b[4:8]); string(kind[:]) {
		case "trak":
			if len(m.tracks) == mostMP4Tracks {
				return
			}
			m.tracks = append(m.tracks, mp4Track{})
			m.open = len(m.tracks)
			m.boxes(from+head, end, depth+1)
			m.open = 0
		case "moov", "mdia", "minf", "stbl", "mvex", "moof", "traf":
			m.boxes(from+head, end, depth+1)
		default:
			m.box(kind, from+head, end)
		}
		from = end
	}
}

// box reads one that holds no others.
func (m *mp4) box(kind [4]byte, from, to int64) {
	var content [44]byte
	b := mp4Box(content[:m.read(content[:min(int64(len(content)), to-from)], from)])
	switch string(kind[:]) {
	case "mvhd":
		duration, parts := b.times()
		m.whole = max(m.whole, milliseconds(duration, parts))
		return
	case "trex": // the defaults of a track's pieces
		if i := m.numbered(b.u32(4)); i > 0 {
			m.tracks[i-1].each = b.u32(12)
		}
		return
	case "tfhd":
		m.open = m.numbered(b.u32(4))
	}
	if m.open == 0 {
		return
	}
	track := &m.tracks[m.open-1]
	switch string(kind[:]) {
	case "tkhd":
		track.id = b.u32(12)
		if b.wide() {
			track.id = b.u32(20)
		}
	case "mdhd":
		track.duration, track.parts = b.times()
	case "hdlr":
		track.sound = track.sound || b.word(8) == mp4Sound
		track.video = track.video || b.word(8) == mp4Video
	case "stsd":
		track.codec, track.hertz = b.word(12), int64(b.u32(40)>>16)
		if hertz := m.aacHertz(from, to); hertz > 0 && (track.hertz == 0 || hertz < track.hertz) {
			track.hertz = hertz
		}
	case "stsz", "stz2":
		track.packets = int64(b.u32(8))
	case "tfhd":
		m.each = track.each
		const hasOffset, hasEntry, hasEach = 1, 2, 8
		at := 8 + 8*int(b.u32(0)&hasOffset) + 2*int(b.u32(0)&hasEntry)
		if b.u32(0)&hasEach != 0 {
			m.each = b.u32(at)
		}
	case "trun":
		m.piece(track, b, from, to)
	}
}

// aacHertz is the sampling rate that a decoder of AAC goes by, which stands in the description of the track (ISO 14496-1, 7.2.6.6,
// and 14496-3, 1.6.2.1), or 0. It is the lowest of all that may be it.
func (m *mp4) aacHertz(from, to int64) (least int64) {
	rates := [...]int64{96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350}
	var content [192]byte
	b := content[:m.read(content[:min(int64(len(content)), to-from)], from)]
	i := bytes.Index(b, []byte("esds"))
	if i < 0 {
		return 0
	}
	const specific, more = 5, 0x80
	for b = b[i+len("esds"):]; len(b) > 0; b = b[1:] {
		if b[0] != specific {
			continue
		}
		c := b[1:]
		for len(c) > 0 && c[0] == more {
			c = c[1:]
		}
		if len(c) < 3 || c[0] < 2 || c[0] > 64 {
			continue
		}
		index := int(c[1]&7)<<1 | int(c[2]>>7)
		if kind := c[1] >> 3; kind > 0 && kind < 31 && index < len(rates) && (least == 0 || rates[index] < least) {
			least = rates[index]
		}
	}
	return least
}

// numbered is one more than where the track of that number stands, or 0.
func (m *mp4) numbered(id uint32) int {
	for i := range m.tracks {
		if m.tracks[i].id == id {
			return i + 1
		}
	}
	return 0
}

// piece adds the packets of a "trun" box, which may say of each what it lasts.
func (m *mp4) piece(track *mp4Track, b mp4Box, from, to int64) {
	flags, packets := b.u32(0), int64(b.u32(4))
	track.packets += packets
	const hasEach = 0x100
	if flags&hasEach == 0 {
		track.sum = saturatingAdd(track.sum, packets*int64(m.each))
		return
	}
	at := from + 8 + 4*int64(flags&1+flags>>2&1)
	step := 4 * int64(flags>>8&1+flags>>9&1+flags>>10&1+flags>>11&1)
	var lasts [4]byte
	for ; packets > 0 && at < to && m.header(lasts[:], at); packets-- {
		track.sum = saturatingAdd(track.sum, int64(binary.BigEndian.Uint32(lasts[:])))
		at += step
	}
}

// Words of four letters.
var (
	mp4Sound = [4]byte([]byte("soun"))
	mp4Video = [4]byte([]byte("vide"))
	mp4AAC   = [4]byte([]byte("mp4a"))
)

// mp4Lossy reports whether a codec stays below mostLossy. Others may be lossless.
func mp4Lossy(codec [4]byte) bool {
	switch string(codec[:]) {
	case "mp4a", ".mp3", "Opus", "ac-3", "samr", "sawb":
		return true
	default:
		return false
	}
}

// length is the most that anything says. AAC has at least 1,024 samples in a packet (ISO 14496-3, 4.5.1.1; 960 are for radio).
func (m *mp4) length() length {
	l := length{milliseconds: m.whole, rate: mostLossy}
	for i := range m.tracks {
		t := &m.tracks[i]
		switch {
		case t.video:
			l.rate = mostVideo
		case t.sound:
			if !mp4Lossy(t.codec) {
				l.rate = max(l.rate, mostLossless)
			}
			l.milliseconds = max(l.milliseconds, milliseconds(max(t.duration, t.sum), t.parts))
			if t.codec == mp4AAC {
				l.milliseconds = max(l.milliseconds, milliseconds(t.packets*1024, t.hertz))
			}
		}
	}
	return l
}

// mp4Box is the beginning of what a box holds.
type mp4Box []byte

// u32 is the number at a byte, or 0 where the box ends before.
func (b mp4Box) u32(at int) uint32 {
	if at+4 > len(b) {
		return 0
	}
	return binary.BigEndian.Uint32(b[at:])
}

// word is four letters at a byte.
func (b mp4Box) word(at int) (word [4]byte) {
	if at+4 <= len(b) {
		copy(word[:], b[at:])
	}
	return word
}

// wide reports whether times have 64 bits.
func (b mp4Box) wide() bool { return len(b) > 0 && b[0] == 1 }

// times reads how long something is, in parts of a second, and how many parts there are. All ones are no length.
func (b mp4Box) times() (duration, parts int64) {
	if b.wide() {
		if duration = int64(b.u32(24))<<32 | int64(b.u32(28)); duration < 0 {
			duration = 0
		}
		return duration, int64(b.u32(20))
	}
	if duration = int64(b.u32(16)); duration == math.MaxUint32 {
		duration = 0
	}
	return duration, int64(b.u32(12))
}

// milliseconds is how long so many parts of a second are.
func milliseconds(n, parts int64) int64 {
	if parts <= 0 {
		return 0
	}
	return ceilDiv(saturatingMul(max(0, n), 1000), parts)
}
