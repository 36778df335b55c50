package cost

import "bytes"

// pdfNumber is the number of the object whose beginning ends here, "7 0 ", or 0 where that is not plain.
func pdfNumber(b []byte) int64 {
	const space, digits, mostNumbers = " \t\r\n\x00\f", "0123456789", 24
	b = b[max(0, len(b)-mostNumbers):]
	b = bytes.TrimRight(b, space)
	b = bytes.TrimRight(bytes.TrimRight(b, digits), space)
	before := bytes.TrimRight(b, digits)
	if bytes.ContainsAny(before[max(0, len(before)-2):], "%(") {
		return 0
	}
	n, _ := pdfInt(b[len(before):])
	return n
}

// pdfInt is the number at the beginning, and how many bytes it has; none is larger than that of an object.
func pdfInt(b []byte) (number int64, n int) {
	const most = 10
	for n < len(b) && n < most && b[n] >= '0' && b[n] <= '9' {
		number = number*10 + int64(b[n]-'0')
		n++
	}
	return number, n
}

// pdfName is the name that stands here, behind its slash, and how many bytes it has (section 7.3.5). Two hexadecimal digits behind #
// are a byte.
func pdfName(b []byte) (name string, n int) {
	const most = 127
	for n < len(b) && n < most && !pdfEnds[b[n]] {
		n++
	}
	if bytes.IndexByte(b[:n], '#') < 0 {
		return string(b[:n]), n
	}
	plain := make([]byte, 0, n)
	for i := 0; i < n; i++ {
		c := b[i]
		if c == '#' && i+2 < n {
			high, low := hexDigit[b[i+1]], hexDigit[b[i+2]]
			if high < 16 && low < 16 {
				c = high<<4 | low
				i += 2
			}
		}
		plain = append(plain, c)
	}
	return string(plain), n
}
