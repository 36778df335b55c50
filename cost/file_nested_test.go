package cost_test

import (
	"archive/zip"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestDocumentsInDocuments: a text that is packed twice counts as it is shown, up to three documents down.
func TestDocumentsInDocuments(t *testing.T) {
	const words = 20_000
	text := strings.Repeat("word ", words/5)
	in := func(s string) string {
		return zipOf(t, zip.Deflate, "word/document.xml", "<w:altChunk/>", "word/a.docx", s)
	}
	letter := in("<w:p>" + text + "</w:p>")
	table := ole("Workbook", biff(1, texts(8224, text[:1000]), make([]int, 500)...), false)
	random := rand.NewChaCha8([32]byte{})
	noise := make([]byte, 4000)
	random.Read(noise)
	bomb := string(noise) + zipOf(t, zip.Deflate, "a.xml", strings.Repeat("word ", 1_000_000))
	for name, c := range map[string]struct {
		file        string
		least, most int64
	}{
		"a letter":              {in(letter), words, 2 * words},
		"two letters":           {zipOf(t, zip.Deflate, "a.docx", letter, "b.docx", letter, "c.jpg", string(noise)), 2 * words, 3 * words},
		"two down":              {in(in(letter)), words, 2 * words},
		"three down":            {in(in(in(letter))), words, 2 * words},
		"four down":             {in(in(in(in(letter)))), unread, unread},
		"pages":                 {in(page(packed("", shown(text)))), words + 5000, 2 * words},
		"an old table":          {in(table), 500_000, 600_000},
		"much text":             {in(bomb), unread, unread},
		"a letter about pages":  {in("<w:p>stream endstream obj 1 0 obj /Encrypt</w:p>"), 0, 1000},
		"behind something else": {in("x" + letter), words, 2 * words},
	} {
		if n := fileTokens(t, c.file); n < c.least || n > c.most {
			t.Errorf("%s: %d tokens in %d bytes, want %d to %d", name, n, len(c.file), c.least, c.most)
		}
	}
}

// TestDocumentsInDocumentsShareABound: what each of many has in it would be let by on its own.
func TestDocumentsInDocumentsShareABound(t *testing.T) {
	inner := zipOf(t, zip.Deflate, "a.xml", "<a>"+strings.Repeat(" ", 10_000)+"</a>")
	var files []string
	for range 200 {
		files = append(files, "a.docx", inner)
	}
	if n := fileTokens(t, zipOf(t, zip.Deflate, files...)); n < unread {
		t.Errorf("200 documents count %d tokens", n)
	}
	if n := fileTokens(t, zipOf(t, zip.Deflate, files[:6]...)); n < 30_000 || n >= 40_000 {
		t.Errorf("three documents count %d tokens", n)
	}
}
