package cost_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
)

// record is a record of a table as Excel had them before 2007.
func record(kind uint16, data string) string {
	b := binary.LittleEndian.AppendUint16(nil, kind)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(data)))
	return string(b) + data
}

func le32(n int) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }

const (
	bof = "\x00\x06\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00"
	eof = "\x0a\x00\x00\x00"
)

// biff is a table of cells, given the records of the list of texts and the numbers of those in each cell.
func biff(sheets int, list string, cells ...int) string {
	var body string
	for i, n := range cells {
		body += record(0xfd, string(binary.LittleEndian.AppendUint16(nil, uint16(i)))+"\x00\x00\x0f\x00"+le32(n))
	}
	begins := len(record(0x809, bof)) + sheets*len(record(0x85, "1234ab\x01\x00s")) + len(list) + len(eof)
	s := record(0x809, bof)
	for range sheets {
		s += record(0x85, le32(begins)+"\x00\x00\x01\x00s")
	}
	return s + list + eof + record(0x809, bof) + body + eof
}

// texts is the list of these, which have one byte for each character, in pieces that are no longer than size.
func texts(size int, all ...string) string {
	piece := le32(len(all)) + le32(len(all))
	var out string
	kind := uint16(0xfc)
	flush := func() { out, kind, piece = out+record(kind, piece), 0x3c, "" }
	for _, s := range all {
		if len(piece)+3 > size {
			flush()
		}
		piece += string(binary.LittleEndian.AppendUint16(nil, uint16(len(s)))) + "\x00"
		for len(s) > 0 {
			if len(piece) >= size {
				flush()
				piece = "\x00"
			}
			n := min(len(s), max(0, size-len(piece)))
			piece, s = piece+s[:n], s[n:]
		}
	}
	flush()
	return out
}

// ole is a compound file that has a stream of that name, whose sectors stand in the order of the file or in the opposite one.
func ole(name, stream string, backwards bool) string {
	const size = 512
	stream += strings.Repeat("\x00", max(0, 4096-len(stream)))
	length := len(stream)
	stream += strings.Repeat("\x00", (size-len(stream)%size)%size)
	n := len(stream) / size
	fats := (n + 2 + 127) / 128
	head := []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 16) + "\x3e\x00\x03\x00\xfe\xff\x09\x00\x06\x00" + strings.Repeat("\x00", 10) +
		le32(fats) + le32(fats) + le32(0) + le32(4096) + le32(-2) + le32(0) + le32(-2) + le32(0))
	for i := range 109 {
		if i < fats {
			head = append(head, le32(i)...)
		} else {
			head = append(head, le32(-1)...)
		}
	}
	first := fats + 1
	table := make([]int, fats*128)
	for i := range table {
		table[i] = -1
	}
	table[fats] = -2
	start, sectors := first, make([]string, n)
	for i := range n {
		at, next := i, first+i+1
		if backwards {
			at, next = n-1-i, first+n-2-i
		}
		if i == n-1 {
			next = -2
		}
		table[first+at], sectors[at] = next, stream[i*size:][:size]
		if i == 0 {
			start = first + at
		}
	}
	var fat string
	for _, v := range table {
		fat += le32(v)
	}
	entry := func(name string, kind byte, start, size int) string {
		var wide string
		for _, c := range name {
			wide += string([]byte{byte(c), byte(c >> 8)})
		}
		return wide + strings.Repeat("\x00", 64-len(wide)) + string([]byte{byte(len(wide) + 2), 0, kind, 1}) + le32(-1) + le32(-1) + le32(1) + strings.Repeat("\x00", 36) + le32(start) + le32(size) + le32(0)
	}
	return string(head) + fat + entry("Root Entry", 5, -2, 0) + entry(name, 2, start, length) + strings.Repeat("\x00", 256) + strings.Join(sectors, "")
}

// TestOldTablesThatShowATextInManyCells: a file of 25 kB shows a text of 8,000 letters a thousand times.
func TestOldTablesThatShowATextInManyCells(t *testing.T) {
	text := strings.Repeat("word ", 1600)
	thousand := make([]int, 1000)
	again := biff(1, texts(8224, text), thousand...)
	short := biff(1, texts(8224, text[:100]), make([]int, 300)...)
	wide := record(0xfc, le32(1)+le32(1)+"\xf4\x01\x01"+strings.Repeat("\x00\x4e", 500))
	for name, c := range map[string]struct {
		file  string
		least int64
	}{
		"a long text":                 {ole("Workbook", again, false), 8_000_000},
		"sectors in another order":    {ole("Workbook", again, true), 8_000_000},
		"its name in small letters":   {ole("workbook", again, false), 8_000_000},
		"its name with another k":     {ole("Workboo\u212a", again, false), 8_000_000},
		"its name before 1997":        {ole("Book", again, false), 8_000_000},
		"no compound file":            {again, 8_000_000},
		"a shorter text":              {ole("Workbook", short, false), 30_000},
		"a list in pieces":            {ole("Workbook", biff(1, texts(1000, "x", text, text), append(thousand, 2)...), false), 25_000},
		"the second of such a list":   {ole("Workbook", biff(1, texts(1000, "x", text[:5000], "y"), 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), false), 50_000},
		"signs in 16 bits":            {ole("Workbook", biff(1, wide, make([]int, 300)...), false), 450_000},
		"a sheet that is there twice": {ole("Workbook", biff(2, texts(8224, "x"), 0, 0), false), unread},
		"encrypted":                   {ole("Workbook", record(0x2f, "\x00\x00")+short, false), unread},
		"two lists":                   {ole("Workbook", biff(1, texts(8224, "x")+texts(8224, text), 0), false), unread},
		"a list that is broken":       {ole("Workbook", biff(1, record(0xfc, le32(1)+le32(1)+"\xff\xff\x00x"), 0), false), unread},
		"sectors of another size":     {strings.Replace(ole("Workbook", short, false), "\xfe\xff\x09", "\xfe\xff\x0c", 1), unread},
		"sheets in sheets": {ole("Workbook", record(0x809, bof)+record(0x85, le32(100)+"\x00\x00")+record(0x85, le32(120)+"\x00\x00")+
			strings.Repeat("\x00", 100-20-2*10-len(eof))+eof+strings.Repeat(record(0x809, bof), 2)+record(0xfd, strings.Repeat("\x00", 10))+eof+eof, false), unread},
	} {
		n := fileTokens(t, c.file)
		if n < c.least {
			t.Errorf("%s: %d tokens in %d bytes, want at least %d", name, n, len(c.file), c.least)
		}
	}
	if n := fileTokens(t, strings.Replace(ole("Workbook", short, false), le32(4096)+le32(-2), le32(64)+le32(-2), 1)); n < unread {
		t.Errorf("small streams: %d tokens", n)
	}
}

// TestOldTablesAsTheyAre: a table as people have them is not taken for what no model can hold, nor is a letter.
func TestOldTablesAsTheyAre(t *testing.T) {
	var names []string
	var cells []int
	for i := range 600 {
		names, cells = append(names, fmt.Sprintf("Customer number %d of the north", i)), append(cells, i, i%5)
	}
	file := ole("Workbook", biff(1, texts(8224, names...), cells...), false)
	if n := fileTokens(t, file); n > 2*int64(len(file)) {
		t.Errorf("a table of %d bytes counts %d tokens", len(file), n)
	}
	letter := ole("WordDocument", strings.Repeat("w\x00o\x00r\x00k\x00b\x00o\x00o\x00k\x00 \x00", 2000), false)
	if n := cost.RawFileTokens([]byte(letter)); n != int64(len(letter)) {
		t.Errorf("a letter of %d bytes counts %d tokens", len(letter), n)
	}
}
