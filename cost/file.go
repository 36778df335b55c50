package cost

import (
	"bytes"
	"encoding/base64"
	"runtime"
)

// bytesPDF is how many bytes of a PDF file stand for a token at least. The provider reads the text of each page and a picture of
// it; a page of nothing but text has about 3 kB and 1,500 tokens, one that was scanned many more bytes and fewer tokens.
const bytesPDF = 2

// unreadable is what a file is taken to be that is compressed in a way that is not known here, or beyond what is looked at: more
// than any model holds. An [Estimate] takes files for no more than its model can hold.
const unreadable = 1 << 24

// FileTokens is what a file is taken to be, given the string that stands for it in a request, base64 in a data: URL or
// without one: a token for each byte, which text never exceeds, or for two bytes of a PDF file. Documents are compressed, so
// that their size says little: of PDF files and of ZIP archives, of which office documents are made, what is shown as text
// is counted byte by byte, in time and memory that are bounded by the size of the file, and each page of a PDF file as a
// picture as well. Nobody has published how files are counted.
func FileTokens(data []byte) int64 { return new(Documents).Tokens(data) }

// Documents are the documents of one request, which are opened in bounds that they share. The zero value has seen none; one
// goroutine uses it.
type Documents struct {
	taken int // what may have come out of them
}

// Tokens is [FileTokens] for the next of them.
func (d *Documents) Tokens(data []byte) int64 {
	p, ok := dataURL(data)
	size := p.size()
	if !ok {
		p = payloadOf(data)
		size = int64(len(data)) // it may be text
	}
	content, exact := p.content()
	switch {
	case isPDF(content):
		size = ceilDiv(p.size(), bytesPDF)
	case !isZIP(content) && !isOLE(content):
		return size
	}
	if !exact { // decoders differ in what they make of it
		return max(size, unreadable)
	}
	return max(size, d.tokens(content))
}

// Files are the tokens of a request's files that m can read: no more than it can hold, where that is known, for a provider
// refuses what is longer and charges nothing.
func (r *Request) Files(m Model) int64 {
	if m.Context > 0 {
		return min(r.FileTokens, m.Context)
	}
	return r.FileTokens
}

// RawFileTokens is what [FileTokens] says of a file, given what is in it.
func RawFileTokens(content []byte) int64 {
	return max(new(Documents).tokens(content), sizeTokens(content))
}

// sizeTokens is the least that a file is taken to be.
func sizeTokens(content []byte) int64 {
	if isPDF(content) {
		return ceilDiv(int64(len(content)), bytesPDF)
	}
	return int64(len(content))
}

// opened holds one for each document that is open, in all requests together: half of the processors are enough for them, and what comes out of
// one is some thirty times as large as what all requests may hold of it. Who waits does so for as long as those before take, tenths of a second.
var opened = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))

// tokens is what a document is taken to be by what is in it, of the bound that is left.
func (d *Documents) tokens(content []byte) int64 {
	opened <- struct{}{}
	defer func() { <-opened }()
	f := d.inflater(len(content))
	tokens := documentTokens(content, f)
	d.taken += f.taken()
	return min(tokens, max(unreadable, int64(len(content))))
}

// isPDF reports whether readers may take a file for a PDF file: those that repair what is broken need not find the beginning.
func isPDF(content []byte) bool {
	const beginning = 1 << 10
	return bytes.Contains(content[:min(len(content), beginning)], []byte("%PDF-")) ||
		bytes.Contains(content, []byte("endstream")) && bytes.Contains(content, []byte(" obj"))
}

// isZIP reports whether readers may take a file for a ZIP archive, which may have anything before it.
func isZIP(content []byte) bool {
	return bytes.HasPrefix(content, []byte("PK")) || bytes.Contains(content, []byte(zipEntry)) && bytes.Contains(content, []byte("PK\x05\x06"))
}

// content is the payload, decoded. Decoders commonly skip what is not of the alphabet; exact says that they could not disagree.
func (p payload) content() (content []byte, exact bool) {
	if p.raw {
		return p.text[p.begins:], true
	}
	content = make([]byte, base64.RawStdEncoding.DecodedLen(len(p.text)))
	if n, err := base64.RawStdEncoding.Decode(content, p.text); err == nil { // it skips line ends, as all do
		return content[:n], true
	}
	if n, err := base64.RawURLEncoding.Decode(content, p.text); err == nil {
		return content[:n], true
	}
	text := make([]byte, 0, len(p.text))
	exact, ended := true, false
	for _, c := range p.text {
		switch {
		case c == '-':
			c = '+'
		case c == '_':
			c = '/'
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			continue
		case !base64Alphabet[c]:
			exact, ended = false, ended || c == '='
			continue
		}
		text = append(text, c)
	}
	n, err := base64.RawStdEncoding.Decode(content, text)
	return content[:n], exact && err == nil && !ended
}
