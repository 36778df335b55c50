package cost

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// webm is what is known of a file so far.
type webm struct {
	*scan
	tracks  []webmSound
	unit    int64 // nanoseconds of a tick
	claim   int64 // ticks
	cluster int64 // the time of the cluster that is being read, in ticks
}

// webmSound is one track, of sound or not.
type webmSound struct {
	number, kind     uint64
	codec            [8]byte // the beginning of its name
	encoded          bool    // packets do not begin as they should
	samples          int64   // of Opus
	packets          int64
	uncounted        int64 // bytes in blocks that hold more than one packet
	first, last, gap int64 // the time of the first and the last block, and the longest between two, in ticks
}

// What a track is.
const (
	webmPictures = 1
	webmIsSound  = 2
)

// leaf reads an element that holds no others.
func (w *webm) leaf(id uint64, at, size int64) {
	var content [16]byte
	b := content[:w.read(content[:min(int64(len(content)), size)], at)]
	var track webmSound
	if len(w.tracks) > 0 {
		track = w.tracks[len(w.tracks)-1]
	}
	switch id {
	case webmUnit:
		if unit := int64(ebmlUint(b)); unit > 0 {
			w.unit = unit
		}
	case webmDuration:
		w.claim = max(w.claim, ebmlFloat(b))
	case webmTime:
		w.cluster = int64(min(ebmlUint(b), math.MaxInt64>>1))
	case webmNumber:
		track.number = ebmlUint(b)
	case webmType:
		track.kind = ebmlUint(b)
	case webmCodec:
		track.codec = [8]byte{}
		copy(track.codec[:], b)
	case webmEncoded:
		track.encoded = true
	case webmBlock, webmSimple:
		w.block(b, size)
		return
	}
	if len(w.tracks) > 0 {
		w.tracks[len(w.tracks)-1] = track
	}
}

// block counts what a block holds: the number of its track, its time within the cluster, flags, and packets.
func (w *webm) block(b []byte, size int64) {
	number, n := ebmlNumber(b)
	i := slices.IndexFunc(w.tracks, func(t webmSound) bool { return n > 0 && t.number == number&^(1<<(7*n)) })
	if i < 0 || len(b) < n+3 {
		return
	}
	t := &w.tracks[i]
	time := max(0, w.cluster+int64(int16(binary.BigEndian.Uint16(b[n:]))))
	if t.packets == 0 {
		t.first, t.last = time, time
	}
	if time > t.last {
		t.gap = max(t.gap, time-t.last)
		t.last = time
	}
	t.packets++
	const lacing = 6
	if b[n+2]&lacing != 0 {
		t.uncounted += size
		return
	}
	t.samples += opusSamples(b[n+3:])
}

// length is that of the longest track of sound, in a file of which so many bytes were not looked at.
func (w *webm) length(behind int64) length {
	l := length{counted: true, rate: mostLossy}
	heard, video := false, false
	for i := range w.tracks {
		t := &w.tracks[i]
		video = video || t.kind == webmPictures
		if t.kind != webmIsSound {
			continue
		}
		heard = true
		l.counted = l.counted && string(t.codec[:]) == "A_OPUS\x00\x00" && !t.encoded && t.packets > 0
		l.milliseconds = max(l.milliseconds, milliseconds(t.samples, opusHertz))
		l.uncounted = max(l.uncounted, slowSpeech(t.uncounted))
		if hasPrefix(t.codec[:], "A_FLAC") || hasPrefix(t.codec[:], "A_PCM") || hasPrefix(t.codec[:], "A_ALAC") {
			l.rate = mostLossless
		}
	}
	if !heard {
		return length{}
	}
	l.uncounted = saturatingAdd(l.uncounted, slowSpeech(behind))
	if l.counted {
		return l
	}
	if video {
		l.rate = mostVideo
	}
	ticks := w.claim
	for i := range w.tracks {
		t := &w.tracks[i]
		ticks = max(ticks, t.last-t.first+t.gap)
	}
	l.milliseconds, l.uncounted = ceilDiv(saturatingMul(ticks, w.unit), 1_000_000), slowSpeech(behind)
	return l
}

// ebmlNumber reads a number that says by its leading zeros how many bytes it has; the one behind them is part of it. n is 0
// where it is not all there.
func ebmlNumber(b []byte) (number uint64, n int) {
	if len(b) == 0 || b[0] == 0 {
		return 0, 0
	}
	n = bits.LeadingZeros8(b[0]) + 1
	if n > len(b) {
		return 0, 0
	}
	return ebmlUint(b[:n]), n
}

// ebmlUint is a number in at most eight bytes.
func ebmlUint(b []byte) (n uint64) {
	for _, c := range b[:min(len(b), 8)] {
		n = n<<8 | uint64(c)
	}
	return n
}

// ebmlFloat is a number that is given as a float, rounded up. What cannot be a length is 0.
func ebmlFloat(b []byte) int64 {
	var f float64
	switch len(b) {
	case 4:
		f = float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
	case 8:
		f = math.Float64frombits(binary.BigEndian.Uint64(b))
	}
	if !(f > 0 && f < math.MaxInt32) {
		return 0
	}
	return int64(math.Ceil(f))
}
