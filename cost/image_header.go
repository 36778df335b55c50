package cost

import (
	"encoding/binary"
	"strings"
)

// ImageOf reads what the string that stands for an image in a request says about it: a data: URL with base64 says its
// size, by the header of the PNG, JPEG, GIF or WebP file in it. Only that header is decoded, some dozens of bytes, or a
// few for each of at most 1,024 segments of a JPEG file. Nothing is ever fetched: any other string leaves the size
// unknown, and so does a header that cannot be read.
func ImageOf(url []byte, detail Detail) Image {
	image := Image{Detail: detail}
	if data, ok := dataURL(url); ok {
		image.Width, image.Height = imageSize(data)
	}
	return image
}

// ImageOfFile is ImageOf for an image as it is.
func ImageOfFile(file []byte, detail Detail) Image {
	image := Image{Detail: detail}
	image.Width, image.Height = imageSize(payload{text: file, raw: true})
	return image
}

// imageSize is the size of an image in pixels, or zeros.
func imageSize(p payload) (width, height int64) {
	var head [30]byte
	if p.read(head[:12], 0) < 12 {
		return 0, 0
	}
	n := 12 + p.read(head[12:], 12)
	switch b := head[:n]; {
	case hasPrefix(b, "\x89PNG\r\n\x1a\n"):
		width, height = pngSize(b)
	case hasPrefix(b, "\xff\xd8\xff"):
		width, height = jpegSize(p)
	case hasPrefix(b, "GIF87a"), hasPrefix(b, "GIF89a"):
		width, height = gifSize(p, b)
	case hasPrefix(b, "RIFF") && hasPrefix(b[8:], "WEBP"):
		width, height = webpSize(b)
	}
	if width <= 0 || height <= 0 || width > mostPixels || height > mostPixels {
		return 0, 0
	}
	return width, height
}

// pngSize reads the first chunk, which must be IHDR (PNG specification, 5.6 and 11.2.1).
func pngSize(b []byte) (width, height int64) {
	if len(b) < 24 || !hasPrefix(b[8:], "\x00\x00\x00\x0dIHDR") {
		return 0, 0
	}
	return int64(binary.BigEndian.Uint32(b[16:])), int64(binary.BigEndian.Uint32(b[20:]))
}

// gifSize is the size of the screen, or that of the first frame where it reaches beyond it, as some decoders make the
// screen larger then (GIF89a specification, sections 18 to 24). head is the beginning of the file, at least 12 bytes.
func gifSize(p payload, head []byte) (width, height int64) {
	const mostBlocks = 1024
	width, height = int64(binary.LittleEndian.Uint16(head[6:])), int64(binary.LittleEndian.Uint16(head[8:]))
	at := int64(13) // what follows the screen
	if flags := head[10]; flags&0x80 != 0 {
		at += 3 << (flags&7 + 1) // its colours
	}
	var b [9]byte
	inExtension := false
	for range mostBlocks {
		switch n := p.read(b[:], at); {
		case n > 0 && inExtension: // a piece of it, of which the last is empty
			inExtension = b[0] != 0
			at += 1 + int64(b[0])
		case n > 1 && b[0] == 0x21:
			inExtension = true
			at += 2
		case n == len(b) && b[0] == 0x2c && p.plain(at):
			frame := func(i int) int64 { return int64(binary.LittleEndian.Uint16(b[i:])) }
			return max(width, frame(1)+frame(5)), max(height, frame(3)+frame(7))
		default:
			return 0, 0
		}
	}
	return 0, 0
}

// webpSize reads the first chunk (RFC 9649, section 2): a key frame of VP8, whose tag is three bytes and whose start
// code follows (RFC 6386, 9.1); VP8L, two sizes of 14 bits behind a signature; or VP8X, two of 24 bits behind flags.
func webpSize(b []byte) (width, height int64) {
	if len(b) < 30 {
		return 0, 0
	}
	switch chunk := b[20:]; string(b[12:16]) {
	case "VP8 ":
		if chunk[0]&1 != 0 || !hasPrefix(chunk[3:], "\x9d\x01\x2a") {
			return 0, 0
		}
		const size = 1<<14 - 1 // the two bits above say how to scale what is shown
		return int64(binary.LittleEndian.Uint16(chunk[6:]) & size), int64(binary.LittleEndian.Uint16(chunk[8:]) & size)
	case "VP8L":
		if chunk[0] != 0x2f {
			return 0, 0
		}
		const size = 1<<14 - 1
		bits := binary.LittleEndian.Uint32(chunk[1:])
		return int64(bits&size) + 1, int64(bits>>14&size) + 1
	case "VP8X":
		return int64(uint24(chunk[4:])) + 1, int64(uint24(chunk[7:])) + 1
	default:
		return 0, 0
	}
}

// jpegSize walks the segments up to the frame header, which says the size (ITU T.81, B.1.1.3 and B.2.2). What lies
// between the segments' own headers, such as colour profiles and previews, is jumped over.
func jpegSize(p payload) (width, height int64) {
	const mostSegments = 1024
	at := int64(2)
	var b [9]byte
	for range mostSegments {
		n := p.read(b[:], at)
		if n < 4 || b[0] != 0xff {
			return 0, 0
		}
		switch marker := b[1]; {
		case marker == 0xff: // a fill byte
			at++
			continue
		case marker == 0x01 || marker >= 0xd0 && marker <= 0xd8: // these have no length
			at += 2
			continue
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			if n < len(b) || !p.plain(at) {
				return 0, 0
			}
			return int64(binary.BigEndian.Uint16(b[7:])), int64(binary.BigEndian.Uint16(b[5:]))
		case marker == 0xd9 || marker == 0xda: // the image ends, or its data begins, without a frame header
			return 0, 0
		}
		length := int64(binary.BigEndian.Uint16(b[2:]))
		if length < 2 {
			return 0, 0
		}
		at += 2 + length
	}
	return 0, 0
}

func uint24(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }

func hasPrefix(b []byte, prefix string) bool {
	return strings.HasPrefix(string(b[:min(len(b), len(prefix))]), prefix)
}
