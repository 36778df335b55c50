package cost

import "encoding/binary"

// flacLength is how long a FLAC file lasts (RFC 9639): by the frames in it, which is what a decoder plays, or by what its first
// block says of the number of samples, if that is more. Silence takes a dozen bytes for seconds, so that the size says little.
func flacLength(p payload) (length, bool) {
	var b [4 + flacBlock + flacInfoSize]byte
	if p.read(b[:], 0) < len(b) || !hasPrefix(b[:], "fLaC") || b[4]&0x7f != 0 {
		return length{}, false
	}
	info := flacInfoOf(b[4+flacBlock:])
	beside := flacBeside(p)
	played := info.played(p, beside)
	size := max(0, p.size()-beside)
	can := saturatingMul(size/leastFLACFrame+1, 1<<16) // no header makes more of a file
	l := length{milliseconds: max(played, milliseconds(min(info.samples, can), min(info.hertz, mostHertz))), counted: true}
	var least int64
	switch {
	case info.hertz == 0:
		least = slowest(size)
	case l.milliseconds == 0: // each sample takes a bit at least (section 9.2.7), unless there is silence
		least = min(milliseconds(size*8/info.channels, info.hertz), slowest(size))
		l.uncounted = least
	default:
		least = ceilDiv(saturatingMul(size, 8*1000), info.rate())
	}
	l.uncounted = max(l.uncounted, least-l.milliseconds)
	return l, true
}

const (
	flacBlock    = 4  // bytes of the head of a block: what it is, and how long
	flacInfoSize = 34 // bytes of STREAMINFO

	// leastFLACFrame is how many bytes a frame has at least, with up to 65,536 samples.
	leastFLACFrame = 11

	// mostHertz is the highest sampling rate in use. Whoever claims a higher one wants to seem shorter.
	mostHertz = 192_000
)

// flacInfo is what STREAMINFO says of the samples.
type flacInfo struct {
	hertz, channels, bits int64
	samples               int64 // of each channel; 0: whoever wrote it did not know
}

func flacInfoOf(b []byte) flacInfo {
	u := binary.BigEndian.Uint64(b[10:])
	return flacInfo{hertz: int64(u >> 44), channels: int64(u>>41&7) + 1, bits: int64(u>>36&31) + 1, samples: int64(u & (1<<36 - 1))}
}

// rate is bits a second that are not exceeded: no block of samples is larger than they are uncompressed, but for its header,
// which is taken for an eighth.
func (i flacInfo) rate() int64 { return max(1, min(i.hertz, mostHertz)*i.channels*i.bits*9/8) }

// played is how many milliseconds the frames last whose headers are whole: all that begins like one counts, for a decoder looks
// for them likewise. It takes time in proportion to the file.
func (i flacInfo) played(p payload, from int64) int64 {
	var block [3 << 10]byte
	micros := int64(0)
	for n := len(block); n == len(block); from += int64(len(block)) - mostFLACHeader {
		n = p.read(block[:], from)
		b := block[:n]
		for at := 0; at+1 < n; at++ {
			if b[at] != 0xff || b[at+1]&0xfe != 0xf8 || n == len(block) && at >= n-mostFLACHeader {
				continue
			}
			if samples, hertz := flacFrame(b[at:]); samples > 0 {
				if hertz == 0 || i.hertz > 0 && i.hertz < hertz {
					hertz = max(1, i.hertz)
				}
				micros = saturatingAdd(micros, ceilDiv(samples*1_000_000, min(hertz, mostHertz)))
			}
		}
	}
	return ceilDiv(micros, 1000)
}

// mostFLACHeader is how many bytes the header of a frame has at most.
const mostFLACHeader = 16

// flacFrame reads the header of a frame (section 9.1): how many samples it has, and how many make a second, of which 0 says that
// the file's head has it. Without samples it is none.
func flacFrame(b []byte) (samples, hertz int64) {
	const afterNumber = 5
	if len(b) < afterNumber+1 {
		return 0, 0
	}
	n := 4 + max(1, leadingOnes(b[4]))
	size, rate := b[2]>>4, b[2]&15
	tail := 0
	switch size {
	case 6:
		tail++
	case 7:
		tail += 2
	}
	sizeEnds := n + tail
	switch rate {
	case 12:
		tail++
	case 13, 14:
		tail += 2
	}
	n += tail
	if size == 0 || rate == 15 || len(b) <= n || crc8(b[:n]) != b[n] {
		return 0, 0
	}
	switch {
	case size == 1:
		samples = 192
	case size < 6:
		samples = 576 << (size - 2)
	case size == 6:
		samples = int64(b[sizeEnds-1]) + 1
	case size == 7:
		samples = int64(binary.BigEndian.Uint16(b[sizeEnds-2:])) + 1
	default:
		samples = 256 << (size - 8)
	}
	switch rate {
	case 12:
		hertz = int64(b[n-1]) * 1000
	case 13:
		hertz = int64(binary.BigEndian.Uint16(b[n-2:]))
	case 14:
		hertz = int64(binary.BigEndian.Uint16(b[n-2:])) * 10
	default:
		hertz = [...]int64{0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000}[rate]
	}
	return samples, hertz
}

// leadingOnes is how many bytes a number has that is written as in UTF-8, by its first; one where it has no more.
func leadingOnes(b byte) (n int) {
	for ; b&0x80 != 0 && n < 7; b <<= 1 {
		n++
	}
	return n
}

// crc8 is the check of a header, with the polynomial x^8 + x^2 + x + 1.
func crc8(b []byte) (crc byte) {
	for _, c := range b {
		crc = crc8Table[crc^c]
	}
	return crc
}

var crc8Table = func() (t [256]byte) {
	for i := range t {
		crc := byte(i)
		for range 8 {
			high := crc & 0x80
			crc <<= 1
			if high != 0 {
				crc ^= 0x07
			}
		}
		t[i] = crc
	}
	return t
}()

// flacBeside is how many bytes stand before the sound: pictures, for the most part.
func flacBeside(p payload) int64 {
	const mostBlocks = 128
	at := int64(4)
	for range mostBlocks {
		var b [flacBlock]byte
		if p.read(b[:], at) < len(b) {
			break
		}
		at += flacBlock + int64(binary.BigEndian.Uint32(b[:])&(1<<24-1))
		if b[0]&0x80 != 0 {
			break
		}
	}
	return min(at, p.size())
}
