package cost

import (
	"bytes"
	"encoding/binary"
)

// oleHead begins a compound file, which documents are that were made before 2007.
const oleHead = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

// isOLE reports whether a file may be a table that Excel made before 2007: a compound file, or what is in it by itself.
func isOLE(content []byte) bool {
	return bytes.HasPrefix(content, []byte(oleHead)) || bytes.HasPrefix(content, []byte("\x09\x08"))
}

// oleTokens is what the tables in a compound file may be as text ([MS-CFB]), and nothing of one without any: other documents have
// no more text in them than bytes. Tables are found by their names, wherever one stands.
func oleTokens(content []byte) (tokens int64) {
	if !bytes.HasPrefix(content, []byte(oleHead)) {
		return xlsText(content)
	}
	const entry, used, most = 128, 124, 8
	found := 0
	for at := 4 * entry; at+used <= len(content); at += entry {
		if !namesTable(content[at:]) {
			continue
		}
		stream := oleStream(content, content[at:])
		if found++; stream == nil || found > most {
			return unreadable
		}
		tokens = saturatingAdd(tokens, xlsText(stream))
	}
	return tokens
}

// namesTable reports whether an entry of a directory that may stand here has a name that readers take for that of a table: they do
// not mind cases, and there are more letters than one whose small form is a k.
func namesTable(entry []byte) bool {
	const lengthAt = 64
	for _, name := range []string{"workboo", "boo"} {
		is := true
		for i := range len(name) {
			is = is && entry[2*i]|0x20 == name[i] && entry[2*i+1] == 0
		}
		behind := 2 * (len(name) + 1)
		if is && (entry[behind] == 0 && entry[behind+1] == 0 || int(binary.LittleEndian.Uint16(entry[lengthAt:])) == behind+2) {
			return true
		}
	}
	return false
}

// oleStream is what an entry names, or nil if it is not where such tables commonly are: in sectors of 512 bytes of their own, whose
// order the first seven megabytes say.
func oleStream(content, entry []byte) (stream []byte) {
	const shift, size, heads, head, leastOwn, end = 9, 1 << 9, 109, 76, 4096, 0xfffffffe
	if content[30] != shift || content[31] != 0 || binary.LittleEndian.Uint32(content[56:]) != leastOwn || binary.LittleEndian.Uint32(entry[120:]) < leastOwn {
		return nil
	}
	sector := func(n uint32) []byte { // up to the end of the file, which may be in its midst
		begins := (int64(n) + 1) * size
		if begins >= int64(len(content)) {
			return nil
		}
		return content[begins:min(begins+size, int64(len(content)))]
	}
	for n := binary.LittleEndian.Uint32(entry[116:]); n != end; {
		b := sector(n)
		if b == nil || len(stream) > len(content) {
			return nil
		}
		stream = append(stream, b...)
		const places = size / 4
		if n/places >= heads {
			return nil
		}
		table := sector(binary.LittleEndian.Uint32(content[head+4*(n/places):]))
		if len(table) < size {
			return nil
		}
		n = binary.LittleEndian.Uint32(table[4*(n%places):])
	}
	return stream
}
