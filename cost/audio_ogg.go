package cost

import "encoding/binary"

// oggLength walks the pages of an Ogg file (RFC 3533, section 6). The packets of Opus are counted, one by one (RFC 7845);
// Vorbis, Speex and FLAC say in each page how many samples there have been, and the most they say is taken, but no less than
// what the packets of Vorbis and FLAC show. Streams that
// stand one behind the other add up, and so do those side by side.
func oggLength(p payload) (length, bool) {
	s := p.scan()
	var o ogg
	at := int64(0)
	for {
		next, ok := o.page(s, at)
		if !ok {
			break
		}
		at = next
	}
	return o.length(p.size() - at)
}

// ogg is what is known of the streams of a file.
type ogg struct {
	streams []oggStream
	video   bool // there is a stream of pictures, too
}

// oggStream is one stream of sound.
type oggStream struct {
	serial, packets uint32
	opus, flac      bool
	samples         int64 // counted, or claimed
	packet          int64 // samples that a packet has at most, where that is said
	played          int64 // samples of the packets so far, at most
	hertz, rate     int64 // samples a second, and the most bits a second
}

const (
	oggPage        = 27 // bytes of a page's head, before the table of its segments
	vorbisBlocks   = 28 // where the head of a Vorbis stream says how long its blocks are
	mostOggStreams = 64
)

// page reads a page and says where the next one is.
func (o *ogg) page(s *scan, at int64) (next int64, ok bool) {
	var head [oggPage]byte
	var table [255]byte
	if !s.header(head[:], at) || !hasPrefix(head[:], "OggS") {
		return at, false
	}
	segments := table[:head[26]]
	body := at + oggPage + int64(len(segments))
	if s.read(segments, at+oggPage) < len(segments) {
		return at, false
	}
	next = body
	for _, n := range segments {
		next += int64(n)
	}
	const continued, begins = 1, 2
	serial := binary.LittleEndian.Uint32(head[14:])
	if head[5]&begins != 0 {
		if len(o.streams) == mostOggStreams {
			return at, false
		}
		o.begin(s, serial, body)
	}
	stream := o.stream(serial)
	switch {
	case stream == nil:
	case stream.opus:
		return next, stream.count(s, segments, body, head[5]&continued != 0)
	default:
		if !stream.count(s, segments, body, head[5]&continued != 0) {
			return at, false
		}
		if granule := int64(binary.LittleEndian.Uint64(head[6:])); granule > stream.samples {
			stream.samples = granule
		}
	}
	return next, true
}

// begin reads the first packet of a stream. What is no sound is left out.
func (o *ogg) begin(s *scan, serial uint32, at int64) {
	var b [64]byte
	n := s.read(b[:], at)
	stream := oggStream{serial: serial, rate: mostLossy}
	switch first := b[:n]; {
	case hasPrefix(first, "OpusHead"):
		stream.opus, stream.hertz = true, opusHertz
	case hasPrefix(first, "\x01vorbis") && n >= 16:
		stream.hertz = int64(binary.LittleEndian.Uint32(b[12:]))
		if n > vorbisBlocks {
			stream.packet = 1 << (b[vorbisBlocks] >> 4) / 2 // half of two long blocks stand over each other
		}
	case hasPrefix(first, "Speex   ") && n >= 40:
		stream.hertz = int64(binary.LittleEndian.Uint32(b[36:]))
	case hasPrefix(first, "\x7fFLAC") && n >= 17+flacInfoSize:
		info := flacInfoOf(b[17:])
		stream.flac, stream.hertz, stream.rate = true, min(info.hertz, mostHertz), info.rate()
		stream.samples = info.samples
	case hasPrefix(first, "\x80theora"):
		o.video = true
	}
	if stream.hertz > 0 {
		o.streams = append(o.streams, stream)
	}
}

// stream is the newest of that number, or nil.
func (o *ogg) stream(serial uint32) *oggStream {
	for i := len(o.streams) - 1; i >= 0; i-- {
		if o.streams[i].serial == serial {
			return &o.streams[i]
		}
	}
	return nil
}

// count counts the packets that begin in a page, and what is in them. A segment of 255 bytes is not a packet's last. The first
// packets are headers.
func (t *oggStream) count(s *scan, segments []byte, at int64, continued bool) (ok bool) {
	begins := !continued
	for _, n := range segments {
		if begins {
			const headers = 2
			if t.packets++; t.packets > headers && n > 0 {
				if s.left <= 0 {
					return false
				}
				s.left--
				var b [mostFLACHeader]byte
				t.add(b[:min(s.read(b[:], at), int(n))])
			}
		}
		begins = n < 255
		at += int64(n)
	}
	return true
}

// add counts a packet by its first bytes.
func (t *oggStream) add(packet []byte) {
	switch {
	case t.opus:
		t.samples += opusSamples(packet)
	case t.flac:
		samples, hertz := flacFrame(packet)
		if hertz == 0 || hertz > t.hertz {
			hertz = t.hertz
		}
		t.played = saturatingAdd(t.played, ceilDiv(saturatingMul(samples, t.hertz), max(1, hertz)))
	default:
		t.played += t.packet
	}
}

// shows are the samples of the packets, where the stream claims fewer. Short blocks of Vorbis are not told from long ones: what it
// claims is believed down to half of what long ones would have.
func (t *oggStream) shows() int64 {
	if t.flac || t.played/2 > t.samples {
		return t.played
	}
	return 0
}

// length is that of all streams, in a file of which so many bytes were not looked at.
func (o *ogg) length(behind int64) (length, bool) {
	l := length{counted: true, uncounted: slowSpeech(behind)}
	for i := range o.streams {
		t := &o.streams[i]
		l.counted = l.counted && t.opus
		l.rate = max(l.rate, t.rate)
		l.milliseconds = saturatingAdd(l.milliseconds, milliseconds(max(t.samples, t.shows()), t.hertz))
		l.played = saturatingAdd(l.played, milliseconds(t.shows(), t.hertz))
	}
	if o.video {
		l.rate = mostVideo
	}
	return l, len(o.streams) > 0
}
