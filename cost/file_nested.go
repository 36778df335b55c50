package cost

import "bytes"

// mostNested is how many documents may be within each other, besides the one that they are in.
const mostNested = 3

// documentTokens is what a document is taken to be by what is in it. A file that is two kinds of document counts as both.
func documentTokens(content []byte, f *inflater) (tokens int64) {
	if isPDF(content) {
		tokens = pdfTokens(content, f)
	}
	if isZIP(content) {
		tokens = saturatingAdd(tokens, zipTokens(content, f))
	}
	if isOLE(content) {
		tokens = saturatingAdd(tokens, oleTokens(content))
	}
	return tokens
}

// nested is what a document may be that is a part of another, and nothing of a part that is none. It takes of the bound of the
// document that it is in.
func (f *inflater) nested(part []byte) int64 {
	switch {
	case isXML(part) && !isZIP(part): // it may say something about documents
		return 0
	case !isPDF(part) && !isZIP(part) && !isOLE(part):
		return 0
	case f.depth == mostNested:
		return unreadable
	}
	if f.within == nil {
		f.within = &inflater{depth: f.depth + 1}
	}
	f.within.left, f.within.all = f.left, f.left
	tokens := documentTokens(part, f.within)
	f.left = f.within.left
	return tokens
}

// isXML reports whether a part begins as one that is XML.
func isXML(part []byte) bool {
	const beginning = 1 << 10
	return bytes.HasPrefix(part, []byte("<")) && !bytes.Contains(part[:min(len(part), beginning)], []byte("%PDF-"))
}
