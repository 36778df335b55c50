package cost

import "encoding/binary"

// flacLength reads the first block of a FLAC file (RFC 9639, sections 6 and 8.2), which says how many samples there are.
func flacLength(p payload) (length, bool) {
	var b [4 + flacBlock + flacInfoSize]byte
	if p.read(b[:], 0) < len(b) || !hasPrefix(b[:], "fLaC") || b[4]&0x7f != 0 {
		return length{}, false
	}
	info := flacInfoOf(b[4+flacBlock:])
	return info.length(p.size(), flacBeside(p)), info.hertz > 0
}

const (
	flacBlock    = 4  // bytes of the head of a block: what it is, and how long
	flacInfoSize = 34 // bytes of STREAMINFO
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

// length is how long sound lasts in so many bytes, some of them beside it. No block of samples is larger than they are
// uncompressed, but for its header, which is taken for an eighth.
func (i flacInfo) length(size, beside int64) length {
	if i.samples > 0 {
		return length{milliseconds: milliseconds(i.samples, i.hertz), rate: i.hertz * i.channels * i.bits * 9 / 8, beside: beside}
	}
	// Each sample takes a bit at least (RFC 9639, section 9.2.7), unless there is silence.
	size = max(0, size-beside)
	return length{counted: true, uncounted: min(milliseconds(size*8/i.channels, i.hertz), slowest(size))}
}

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
