package cost

import "bytes"

// notes finds what a text document shows at each place that refers to it: notes and comments, which commonly have one each, what
// stands above and below pages, and other documents.
type notes struct {
	again, note   int64 // references to notes that another may refer to as well; bytes of the part that has most of them
	edges, edge   int64 // references to what stands above and below pages, and bytes of the largest
	chunks, chunk int64 // references to other documents, and bytes of the largest part
}

// read takes what a part of the document has of them, which may be shown as that many bytes.
func (n *notes) read(b []byte, text int64) {
	n.chunk = max(n.chunk, text)
	if !mayHaveNotes(b) {
		return
	}
	seen := map[string]bool{}
	for {
		i := bytes.IndexByte(b, '<')
		if i < 0 {
			break
		}
		b = b[i+1:]
		if len(b) == 0 || b[0] == '/' {
			continue
		}
		name, end := elementName(b)
		switch string(name) {
		case "footnoteReference", "endnoteReference", "commentReference":
			key, ok := noteNumber(b[end:])
			if key = string(name) + key; !ok || seen[key] {
				n.again++
			}
			seen[key] = true
		case "headerReference", "footerReference":
			n.edges++
		case "altChunk":
			n.chunks++
		case "footnote", "endnote", "comment":
			n.note = max(n.note, text)
		case "hdr", "ftr":
			n.edge = max(n.edge, text)
		}
	}
}

// mayHaveNotes reports whether a part has any of the words that matter: most have none, and it takes longer to look at each tag.
func mayHaveNotes(b []byte) bool {
	for _, word := range []string{"Reference", "altChunk", "note", "comment", "hdr", "ftr"} {
		if bytes.Contains(b, []byte(word)) {
			return true
		}
	}
	return false
}

// noteNumber is the number of a note that an element names, given what is behind the element's own name. It is not known where it
// may be written in another way.
func noteNumber(b []byte) (number string, known bool) {
	const space = " \t\r\n"
	b = b[:firstOf(b, "<")] // a value may have what ends a tag in it
	_, value, _ := bytes.Cut(b, []byte(":id"))
	if bytes.Contains(value, []byte(":id")) {
		return "", false
	}
	value, is := bytes.CutPrefix(bytes.TrimLeft(value, space), []byte("="))
	value = bytes.TrimLeft(value, space)
	if !is || len(value) == 0 || value[0] != '"' && value[0] != '\'' {
		return "", false
	}
	_, digits := pdfInt(value[1:])
	if digits == 0 || digits > 1 && value[1] == '0' || len(value) < digits+2 || value[digits+1] != value[0] {
		return "", false
	}
	return string(value[1:][:digits]), true
}

// text is how many bytes are shown beyond those that are there.
func (n *notes) text() int64 {
	sum := saturatingAdd(saturatingMul(n.again, n.note), saturatingMul(max(0, n.edges-1), n.edge))
	return saturatingAdd(sum, saturatingMul(max(0, n.chunks-1), n.chunk))
}
