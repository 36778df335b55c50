package cost

import "encoding/binary"

// mpegLength walks the frames of MPEG audio of any layer, of which each says how many bytes and samples it has (ISO 11172-3,
// 2.4.1.3; ISO 13818-3). What a Xing or VBRI header says of the whole is not asked. Bytes that belong to no frame and to no
// tag count as the lowest rate there is, 8 kbit/s, and so does all that is behind the last header looked at.
func mpegLength(p payload, tagged bool) (length, bool) {
	// mostLost is how many bytes without a frame are searched for the next one.
	mostLost := int64(1 << 16)
	s := p.scan()
	if first, ok := s.frame(0); (!ok || !s.follows(first, 0)) && !tagged && !mpegSync(p) {
		return length{}, false
	}
	var samples [mpegRates]int64
	l := length{counted: true}
	for at := int64(0); at < p.size(); {
		if f, ok := s.frame(at); ok {
			samples[f.rate] += f.samples
			at += f.size
			continue
		}
		if tag, sound := s.tag(at); tag > 0 {
			l.uncounted += sound
			at += tag
			continue
		}
		next, ok := s.nextFrame(at+1, at+mostLost)
		if !ok {
			next = p.size()
		}
		mostLost -= next - at
		l.uncounted += next - at // a byte a millisecond
		at = next
	}
	for rate, n := range samples {
		l.milliseconds += ceilDiv(n*1000, mpegHertz(rate))
	}
	return l, true
}

// mpegSync knows layer III by the eleven bits that begin a frame, even if nothing else of it is right.
func mpegSync(p payload) bool {
	var b [2]byte
	return p.read(b[:], 0) == 2 && b[0] == 0xff && b[1]&0xe6 == 0xe2
}

// mpegFrame is a frame of MPEG audio.
type mpegFrame struct {
	size, samples int64
	rate          int     // for mpegHertz
	kind          [2]byte // what all frames of a file have in common: version, layer and sampling rate
}

// mpegRates is how many sampling rates there are: three of each version.
const mpegRates = 9

// mpegHertz is a sampling rate. Versions 2 and 2.5 have halves and quarters of those of version 1.
func mpegHertz(rate int) int64 { return [...]int64{44_100, 48_000, 32_000}[rate%3] >> (rate / 3) }

// Kilobits a second by the four bits that stand for them, from 1 on; 0 and 15 are no rates that a decoder knows. Rows are
// layers I, II and III of version 1, and I and the others of versions 2 and 2.5.
var mpegKilobits = [5][14]int64{
	{32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
	{32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
	{32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
	{32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
	{8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
}

// frame reads the header of a frame.
func (s *scan) frame(at int64) (f mpegFrame, ok bool) {
	var b [4]byte
	if !s.header(b[:], at) {
		return f, false
	}
	return mpegFrameOf(binary.BigEndian.Uint32(b[:]))
}

func mpegFrameOf(header uint32) (f mpegFrame, ok bool) {
	version, layer := header>>19&3, 4-int(header>>17&3) // 0 is 2.5, 2 is 2 and 3 is 1; layers are counted down
	bits, hertz, padding := int(header>>12&15), int(header>>10&3), int64(header>>9&1)
	if header>>21 != 0x7ff || version == 1 || layer == 4 || bits == 0 || bits == 15 || hertz == 3 {
		return f, false
	}
	row := layer - 1
	f.samples = [...]int64{384, 1152, 1152}[row]
	f.rate = hertz
	if version != 3 {
		row = 3 + min(layer-1, 1)
		f.rate += 3
		if layer == 3 {
			f.samples = 576
		}
	}
	if version == 0 {
		f.rate += 3
	}
	bitrate := mpegKilobits[row][bits-1] * 1000
	if layer == 1 {
		f.size = (12*bitrate/mpegHertz(f.rate) + padding) * 4
	} else {
		f.size = f.samples/8*bitrate/mpegHertz(f.rate) + padding
	}
	f.kind = [2]byte{byte(header >> 16 & 0xfe), byte(header >> 8 & 0x0c)}
	return f, true
}

// follows reports whether behind a frame there is another of its kind, or nothing.
func (s *scan) follows(f mpegFrame, at int64) bool {
	next, ok := s.frame(at + f.size)
	return ok && next.kind == f.kind || at+f.size >= s.size()-3
}

// nextFrame finds a frame that another follows, from one byte on to before another.
func (s *scan) nextFrame(from, to int64) (at int64, ok bool) {
	var block [512]byte
	for ; from < to && s.left > 0; from += int64(len(block)) - 3 {
		n := s.read(block[:min(int64(len(block)), to-from)], from)
		for i := 0; i+4 <= n; i++ {
			if block[i] != 0xff {
				continue
			}
			f, ok := mpegFrameOf(binary.BigEndian.Uint32(block[i:]))
			if ok && s.follows(f, from+int64(i)) {
				return from + int64(i), true
			}
		}
		if n < len(block) {
			break
		}
	}
	return 0, false
}
