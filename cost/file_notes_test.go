package cost_test

import (
	"archive/zip"
	"fmt"
	"strings"
	"testing"
)

// TestNotesThatAreReferredToAgain: a note, what stands above pages or a document in another is shown at each place that names it.
func TestNotesThatAreReferredToAgain(t *testing.T) {
	text := "<w:t>" + strings.Repeat("word ", 400) + "</w:t>"
	times := func(format string) string {
		var b strings.Builder
		for i := range 100 {
			b.WriteString(strings.ReplaceAll(format, "#", fmt.Sprint(i+1)))
		}
		return b.String()
	}
	notes := `<w:footnotes><w:footnote w:id="1">` + text + `</w:footnote></w:footnotes>`
	for name, c := range map[string]struct {
		body, other string
		least, most int64
	}{
		"a note":                    {times(`<w:footnoteReference w:id="1"/>`), notes, 200_000, 250_000},
		"with another prefix":       {times(`<` + strings.Repeat("x", 200) + `:footnoteReference x:id = '1'/>`), notes, 200_000, 250_000},
		"with other digits":         {times(`<w:footnoteReference w:id="&#49;"/>`), notes, 200_000, 250_000},
		"with digits before it":     {times(`<w:footnoteReference w:id="0001"/>`), notes, 200_000, 250_000},
		"with two numbers":          {times(`<w:footnoteReference x:id="#" w:id="1"/>`), notes, 200_000, 250_000},
		"a note at the end":         {times(`<w:endnoteReference w:id="1"/>`), strings.ReplaceAll(notes, "footnote", "endnote"), 200_000, 250_000},
		"a comment":                 {times(`<w:commentReference w:id="1"/>`), strings.ReplaceAll(notes, "footnote", "comment"), 200_000, 250_000},
		"what stands above a page":  {times(`<w:headerReference r:id="a#"/>`), "<w:hdr>" + text + "</w:hdr>", 200_000, 250_000},
		"what stands below":         {times(`<w:footerReference r:id="a#"/>`), "<w:ftr>" + text + "</w:ftr>", 200_000, 250_000},
		"a document":                {times(`<w:altChunk r:id="a#"/>`), "<html>" + text, 200_000, 250_000},
		"notes as they are":         {times(`<w:footnoteReference w:id="#"/>`) + times(`<w:endnoteReference w:id="#"/>`), notes, 2000, 3000},
		"a head as it is":           {`<w:headerReference r:id="a"/>`, "<w:hdr>" + text + "</w:hdr>", 2000, 3000},
		"a document as it commonly": {`<w:altChunk r:id="a"/>`, "<html>" + text, 2000, 3000},
	} {
		if n := fileTokens(t, zipOf(t, zip.Deflate, "word/document.xml", "<w:body>"+c.body+"</w:body>", "a.xml", c.other)); n < c.least || n > c.most {
			t.Errorf("%s: %d tokens, want %d to %d", name, n, c.least, c.most)
		}
	}
}
