package cost_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
)

// TestFilesThatTakeLong: none of these files takes more than seconds, which a hundred times as long would fail, and none is taken
// for less than it may be.
func TestFilesThatTakeLong(t *testing.T) {
	times := func(n int, s string) string { return strings.Repeat(s, n) }
	numbered := func(n int, s string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, s, i)
		}
		return b.String()
	}
	const names = 20_000
	for name, file := range map[string]string{
		"files that are said to be a little longer": times(200_000, "PK\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0a\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\x00axx"),
		"texts that stand for others":               page(packed("", times(500_000, "/ActualText(a)"))),
		"many names of many forms": page(packed("/Subtype/Form", "(x)"), packed("/Subtype/Form", numbered(names, "/%x Do ")), packed("", numbered(names, "/y%x Do ")),
			"<<"+numbered(names, "/%x 4 0 R")+numbered(names, "/y%x 5 0 R")+">>"),
		"forms that show each other":   page(packed("/Subtype/Form", numbered(names, "/%x Do ")), "<<"+numbered(names, "/%x 4 0 R")+">>"),
		"objects without end":          page(packed("", numbered(600_000, "%d 0 R "))),
		"names without end":            page(packed("/Subtype/Form", numbered(600_000, "/%x Do ")), "<</A 4 0 R>>"),
		"a page again and again, late": page(packed("", "/Kids["+numbered(600_000, "%d 0 R "))),
	} {
		file += "\n" + times(1<<20, "x") // which lets it be inflated
		begun := time.Now()
		if n := cost.RawFileTokens([]byte(file)); n < unread && n < int64(len(file))/2 {
			t.Errorf("%s: %d tokens in %d bytes", name, n, len(file))
		}
		t.Logf("%s: %d bytes in %v", name, len(file), time.Since(begun))
	}
}

// TestStoredFilesEndWhereTheNextBegins: a file of an archive that is not packed does not count those behind it as well.
func TestStoredFilesEndWhereTheNextBegins(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(zipOf(t, 0, "mimetype", "application/epub+zip", "a.txt", strings.Repeat("word ", 2000)))
	if n := cost.RawFileTokens(b.Bytes()); n > 11_000 {
		t.Errorf("10,020 bytes count %d tokens", n)
	}
}

// TestDocumentsOfARequestShareABound: many documents take no more time than a large one.
func TestDocumentsOfARequestShareABound(t *testing.T) {
	file := page(packed("", strings.Repeat("<<>>", 250_000))) + "\n" + strings.Repeat("x", 60_000)
	data := []byte(base64.StdEncoding.EncodeToString([]byte(file)))
	if n := cost.FileTokens(data); n >= unread {
		t.Errorf("one counts %d tokens", n)
	}
	var all cost.Documents
	last := int64(0)
	for range 35 {
		last = all.Tokens(data)
	}
	if last < unread {
		t.Errorf("the thirty-fifth counts %d tokens", last)
	}
}
