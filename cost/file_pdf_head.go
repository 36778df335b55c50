package cost

import "bytes"

// pdfKind is what a stream may be used for, by its dictionary.
type pdfKind uint8

const (
	pdfOther   pdfKind = iota // it may be anything
	pdfUnshown                // nothing but a picture or a font
	pdfForm                   // shown within others, or on a page
)

// pdfFilter is how a stream is packed.
type pdfFilter uint8

const (
	filterFlate   pdfFilter = 1 << iota
	filterASCII             // letters stand for bytes
	filterHex               // hexadecimal ones
	filterOther             // as pictures are
	filterUnknown           // as is not looked into, or said elsewhere
	filterHidden            // there may be more of the dictionary than is seen
)

// head reads what stands before the word that begins a stream: the number of its object, and its dictionary. What is not plainly a
// dictionary and nothing else makes the stream one that may be anything, and of any object that begins before it.
func (d *pdf) head(before []byte, s *pdfStream) {
	const mostHead, mostNumbers = 64 << 10, 16
	window := before[max(0, len(before)-mostHead):]
	dict, sure := window, false
	for end := len(window); !sure; {
		i := bytes.LastIndex(window[:end], []byte("obj"))
		if i < 0 {
			break
		}
		end = i
		number := pdfNumber(window[:i])
		if number == 0 {
			continue
		}
		dict = window[i+len("obj"):]
		sure = oneDictionary(dict)
		s.numbers = append(s.numbers, number)
		if len(s.numbers) == mostNumbers {
			break
		}
	}
	if d.left -= len(dict); d.left < 0 {
		d.unreadable = true
		return
	}
	var kind pdfKind
	var filters pdfFilter
	if !sure && len(s.numbers) < mostNumbers && len(before) > mostHead && bytes.HasSuffix(bytes.TrimRight(dict, pdfSpace), []byte(">>")) {
		filters |= filterUnknown // it begins further up
	}
	clear := oneDictionary(dict)
	const (
		image = 1 << iota
		form
		size
		font
		other
		table
	)
	seen, predicted := 0, false
	for rest := dict; ; {
		k := bytes.IndexByte(rest, '/')
		if k < 0 {
			break
		}
		name, n := pdfName(rest[k+1:])
		rest = rest[k+1+n:]
		switch name {
		case "Image":
			seen |= image
		case "Form":
			seen |= form
		case "Width", "W", "Height", "H":
			seen |= size
		case "Length1", "Type1C", "CIDFontType0C", "OpenType":
			seen |= font
		case "XRef":
			seen |= table
			s.table = true
		case "First":
			seen |= other
			s.first, _ = pdfInt(bytes.TrimLeft(rest, pdfSpace))
		case "ObjStm", "N", "Contents", "Resources", "BBox":
			seen |= other
		case "FlateDecode", "Fl":
			filters |= filterFlate
		case "ASCII85Decode", "A85", "ASCIIHexDecode", "AHx":
			if filters&(filterFlate|filterASCII) != 0 {
				filters |= filterUnknown // letters within letters, or within what is packed
			}
			if filters |= filterASCII; name == "ASCIIHexDecode" || name == "AHx" {
				filters |= filterHex
			}
		case "DCTDecode", "DCT", "JPXDecode", "CCITTFaxDecode", "CCF", "JBIG2Decode":
			filters |= filterOther
		case "LZWDecode", "LZW", "RunLengthDecode", "RL", "Crypt":
			filters |= filterUnknown
		case "Subtype":
			if v := bytes.TrimLeft(rest, pdfSpace); len(v) == 0 || v[0] != '/' {
				seen |= form // it stands elsewhere
			}
		case "PatternType":
			s.pattern = true
		case "Length":
			v := bytes.TrimLeft(rest, pdfSpace)
			length, digits := pdfInt(v)
			switch {
			case digits == 0:
				s.lengthIn = append(s.lengthIn, 0)
			case d.refers(v[digits:]) > 0:
				s.lengthIn = append(s.lengthIn, length)
			default:
				s.length = max(s.length, length)
			}
		case "Predictor", "DecodeParms", "DP":
			predicted = predicted || !plainParms(name, rest)
		case "Filter":
			if v := bytes.TrimLeft(rest, " \t\r\n\x00\f["); len(v) == 0 || v[0] != '/' && v[0] != ']' && v[0] != 'n' {
				filters |= filterUnknown // it stands elsewhere, or behind a comment
			}
		}
	}
	if !clear && (bytes.HasSuffix(bytes.TrimRight(dict, " \t\r\n\x00\f"), []byte(">")) || bytes.IndexByte(dict, '%') >= 0) {
		filters |= filterHidden
	}
	switch {
	case seen&form != 0:
		kind = pdfForm
	case (seen == image|size || seen == font || seen == table|size) && clear && len(s.numbers) == 1:
		kind = pdfUnshown
	}
	if predicted {
		filters |= filterUnknown // what comes out of it is not what is read
	}
	s.kind, s.filters = kind, filters
}

// plainParms reports whether what stands behind the name of a parameter says that what is packed is not predicted.
func plainParms(name string, b []byte) bool {
	if b = bytes.TrimLeft(b, pdfSpace); bytes.HasPrefix(b, []byte("[")) && name != "Predictor" {
		list := b[:firstOf(b, "]")]
		return !bytes.Contains(list, []byte("R"))
	}
	if name == "Predictor" {
		rest, one := bytes.CutPrefix(b, []byte("1"))
		rest = bytes.TrimLeft(rest, pdfSpace)
		return one && len(rest) > 0 && (rest[0] == '/' || rest[0] == '>')
	}
	return bytes.HasPrefix(b, []byte("<<")) || bytes.HasPrefix(b, []byte("null"))
}

// oneDictionary reports whether these bytes are one dictionary without strings and comments, in which another object might be
// hidden.
func oneDictionary(b []byte) bool {
	b = bytes.Trim(b, " \t\r\n\x00\f")
	if !bytes.HasPrefix(b, []byte("<<")) || bytes.ContainsAny(b, "()%") {
		return false
	}
	depth := 0
	for i := 0; i+1 < len(b); i++ {
		switch string(b[i : i+2]) {
		case "<<":
			depth++
			i++
		case ">>":
			depth--
			i++
			if depth == 0 {
				return i+1 == len(b)
			}
		}
	}
	return false
}

// pdfEnds are the bytes that end a name or a word.
var pdfEnds = func() (is [256]bool) {
	for _, c := range []byte("\x00\t\n\f\r ()<>[]{}/%") {
		is[c] = true
	}
	return is
}()

// hexDigit is what a digit stands for; 16: it is none.
var hexDigit = func() (digits [256]byte) {
	for c := range digits {
		switch {
		case c >= '0' && c <= '9':
			digits[c] = byte(c - '0')
		case c >= 'a' && c <= 'f':
			digits[c] = byte(c - 'a' + 10)
		case c >= 'A' && c <= 'F':
			digits[c] = byte(c - 'A' + 10)
		default:
			digits[c] = 16
		}
	}
	return digits
}()
