package cost_test

import (
	"archive/zip"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/tokenfare/tokenfare/cost"
)

// predicted is what a stream holds whose bytes are each the difference from the one before (TIFF's predictor).
func predicted(s string) string {
	out, before := []byte(s), byte(0)
	for i, c := range []byte(s) {
		out[i], before = c-before, c
	}
	return string(out)
}

// TestFilesThatHideWhatTheyShow: readers show each of these texts a hundred times, or all of it, and find it in spite of how it is
// written down.
func TestFilesThatHideWhatTheyShow(t *testing.T) {
	const words = 20_000
	text := shown(strings.Repeat("word ", words/5))
	times := func(s string) string { return strings.Repeat(s, 100) }
	contents := func(refs string, objects ...string) string {
		return pdfOf(append([]string{"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>", "<</Type/Page/Parent 2 0 R/Contents" + refs + ">>"}, objects...)...)
	}
	again := "[" + times("4 0 R ") + "]"
	form := packed("/Subtype/Form", text)
	names := "<</XObject<</Fm 5 0 R>>>>"
	look := "<</Type/Annot/AP<</N 4 0 R>>>>"
	table := func(s string) string { return page(packed("", text), packed("", s)) }
	for name, c := range map[string]struct {
		file  string
		least int64
	}{
		"a form in what is not packed":            {page(stream("", times("/Fm Do\n")), form, names), 100 * words},
		"a comment before what shows a form":      {page(packed("", times("/Fm %/X\nDo\n")), form, names), 100 * words},
		"a form whose kind stands elsewhere":      {page(packed("", times("/Fm Do\n")), packed("/Subtype 7 0 R", text), names, "/Form"), 100 * words},
		"a mask":                                  {page(packed("", times("/M gs\n")), form, "<</ExtGState<</M<</SMask<</S/Alpha/G 5 0 R>>>>>>>>"), 100 * words},
		"a pattern":                               {page(packed("", "/Pattern cs/P scn 0 0 1 1 re f"), packed("/PatternType 1", text)), unread},
		"a name that seems to begin an object":    {contents(again, packed("/Xobj 1", text)), 100 * words},
		"a string that seems to begin an object":  {contents(again, packed("/X(9 0 obj)", text)), 100 * words},
		"a long dictionary":                       {contents(again, packed("/X["+strings.Repeat("0 ", 40_000)+"]", text)), unread},
		"numbers with signs":                      {contents("["+times("+4 -0 R ")+"]", packed("", text)), 100 * words},
		"a number within a number":                {contents(again, stream("", "")) + "\n94 0 obj " + packed("", text) + " endobj", 100 * words},
		"a form within a number":                  {page(packed("", times("/Fm Do\n")), packed("/Subtype/Form", ""), names) + "\n95 0 obj " + form + " endobj", unread},
		"names among contents":                    {contents("["+times("/X 4 0 R ")+"]", packed("", text)), 100 * words},
		"a comment before contents":               {contents("%/X\n"+again, packed("", text)), unread},
		"an array that was a stream":              {pdfOf("<</Contents 3 0 R>>", "<</Contents 3 0 R>>", stream("", ""), packed("", text)) + "3 0 obj [4 0 R] endobj", unread},
		"a comment before pages":                  {pdfOf("<</Type/Pages/Count 3/Kids%/X\n[2 0 R 2 0 R 2 0 R]>>"), unread},
		"lists of pages in one object":            {pdfOf("<</Kids[<</Kids[2 0 R]>><</Kids[2 0 R]>>]>>"), unread},
		"an end within":                           {contents(again, stream("", "(endstream endobj) Tj "+text)), 100 * words},
		"an end within, and its length elsewhere": {contents(again, "<</Length 5 0 R>>stream\n(endstream endobj) Tj "+text+"\nendstream", "20100"), 100 * words},
		"a stream in another":                     {pdfOf("<</Contents"+again+">>", stream("", "")) + "9 0 obj<<>>stream\n4 0 obj " + stream("", text) + " endobj", 100 * words},
		"what is predicted":                       {page(packed("/DecodeParms<</Predictor 2/Columns 90000>>", predicted(text))), unread},
		"what is predicted as is said elsewhere":  {page(packed("/DecodeParms[null 9 0 R]", predicted(text))), unread},
		"letters in letters":                      {contents(again, stream("/Filter[/AHx/AHx]", hex.EncodeToString([]byte(hex.EncodeToString([]byte(text)))))), unread},
		"a letter that is a digit to some":        {contents(again, stream("/Filter/AHx", "g"+hex.EncodeToString([]byte(text))[1:]+">")), unread},
		"a comment in a table of characters":      {table("beginbfchar %endbfchar\n<77> <" + strings.Repeat("0077", 30) + "> endbfchar"), 30 * words},
		"a word in a table of characters":         {table("beginbfchar x <77> <77> <" + strings.Repeat("0077", 30) + "> endbfchar"), 30 * words},
		"glyphs that are made of several":         {page(packed("", text), "<</Differences[32/uni4E00_uni4E01_uni4E02]>>"), 9 * words},
		"a comment before what stands for text":   {page(packed("", times("/Span /P %x\nBDC EMC ")), "<</P<</ActualText("+strings.Repeat("word ", 100)+")>>>>"), 100 * 500},
		"an annotation again and again":           {pdfOf("<</Type/Page/Annots["+times("2 0 R ")+"]>>", look, "null", form), 100 * words},
		"annotations in a list":                   {pdfOf("<</Type/Page/Annots 3 0 R>>", look, "["+times("2 0 R ")+"]", form), 100 * words},
		"a list of annotations on each page":      {pdfOf(times("<</Type/Page/Annots 3 0 R>>"), look, "[2 0 R]", form), 100 * words},
		"annotations with states":                 {pdfOf("<</Type/Page/Annots["+times("<</AP<</N<</On 4 0 R>>>>>>")+"]>>", "null", "null", form), 100 * words},
	} {
		if n := fileTokens(t, c.file); n < c.least {
			t.Errorf("%s: %d tokens in %d bytes, want at least %d", name, n, len(c.file), c.least)
		}
	}
}

// TestFilesWithOddThingsAsTheyAre: what people's programs write is not taken for a trick.
func TestFilesWithOddThingsAsTheyAre(t *testing.T) {
	lines := strings.Repeat("1 0 0 1 72 700 Tm (50% of 10 R&D projects) Tj\n", 60)
	for name, c := range map[string]struct {
		file string
		most int64
	}{
		"titles":           {page(packed("", lines), "<</Title(5% of [this]/that)/Parent 2 0 R/Next 3 0 R/Dest[3 0 R/XYZ 0 0 0]>>"), 10_000},
		"comments":         {page("% what a page shows\n"+packed("", "% drawn\n"+lines), "% of a page\n<</Type/Font>>"), 10_000},
		"tables of places": {page(packed("", lines), packed("/Type/XRef/W[1 2 1]/Size 99/Root 1 0 R/DecodeParms<</Columns 4/Predictor 12>>", strings.Repeat("\x01\x02(\x00", 500))), 10_000},
		"ligatures":        {page(packed("", lines), "<</Differences[2/f_f_i/T_h/fi 65/A/B/Aogonek]>>"), 10_000},
		"a later version":  {page(packed("", lines)) + "3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R/Annots[6 0 R]>>endobj 6 0 obj<</Subtype/Text/AP<</N 7 0 R>>>>endobj 7 0 obj" + packed("/Subtype/Form", "(x) Tj"), 20_000},
		"looks of a field": {page(packed("", lines), "<</Kids[6 0 R 7 0 R]/FT/Btn/T(a%)>>", "<</Parent 5 0 R/AP<</N<</On 8 0 R/Off 9 0 R>>>>>>", "<</Parent 5 0 R/AP<</N<</On 8 0 R/Off 9 0 R>>>>>>", packed("/Subtype/Form", "(4) Tj"), packed("/Subtype/Form", "q Q")), 15_000},
		"lengths apart":    {page("<</Length 5 0 R>>stream\n"+lines+"\nendstream", fmt.Sprint(len(lines))), 10_000},
	} {
		if n := fileTokens(t, c.file); n > c.most {
			t.Errorf("%s: %d tokens in %d bytes, want at most %d", name, n, len(c.file), c.most)
		}
	}
}

// in16 is a text in two bytes for each character.
func in16(s string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return string(b)
}

// TestTablesThatHideWhatTheyShow: readers of spreadsheets show a long text in each of five hundred cells.
func TestTablesThatHideWhatTheyShow(t *testing.T) {
	text := strings.Repeat("word ", 200)
	const cell, item = `<c r="A1" t="s"><v>1</v></c>`, "<si><t>x</t></si>"
	list := "<sst>" + item + "<si><t>" + text + "</t></si></sst>"
	for name, c := range map[string][2]string{
		"space in what ends a cell":  {`<c t="s"><v>1</v ></c>`, list},
		"space in what ends a text":  {cell, strings.ReplaceAll(list, "</si>", "</si\n>")},
		"a text that is empty":       {cell, strings.Replace(list, item, "<si/>", 1)},
		"an empty one with a space":  {cell, strings.Replace(list, item, `<si a="b" />`, 1)},
		"a comment in a cell":        {`<c t="s"><!--<c r="A"><v>--><v>1</v></c>`, list},
		"a comment in a value":       {`<c t="s"><v>1<!----></v></c>`, list},
		"an instruction in a value":  {`<c t="s"><v>1<?x?></v></c>`, list},
		"a comment in a text":        {cell, strings.Replace(list, "x", "<!--</si>-->", 1)},
		"a text in 16 bits":          {cell, in16(list)},
		"cells in 16 bits":           {in16("<c/>" + strings.Repeat(cell, 500)), list},
		"a formula that is a cell":   {`<c t="s"><!--<c ><f>--><f></f><v>1</v></c>`, list},
		"a type in other quotes":     {`<c r="A1" t='s'><v>1</v></c>`, list},
		"an entity of 16 bits":       {cell, in16(`<!DOCTYPE a [<!ENTITY e "x">]>` + list)},
		"a table of another program": {`<table:table-row table:number-rows-repeated="5"><table:table-cell table:number-columns-repeated = '100'>` + text + `</table:table-cell></table:table-row>`, ""},
	} {
		if n := fileTokens(t, zipOf(t, zip.Deflate, "a.xml", "<a>"+strings.Repeat(c[0], 500)+"</a>", "b.xml", c[1])); n < 500_000 {
			t.Errorf("%s: %d tokens", name, n)
		}
	}
}

// TestSlidesAndChaptersAgain: what is shown again and again is unreadable, however the places are written where it is.
func TestSlidesAndChaptersAgain(t *testing.T) {
	archive := zipOf(t, zip.Deflate, "a.xml", "<a/>", "b.xml", "<b/>")
	for name, file := range map[string]string{
		"relations with other names": zipOf(t, zip.Deflate, "p.xml", `<p:sldIdLst><p:sldId id="1" r:id="a"/><p:sldId id="2" r:id="a"/></p:sldIdLst>`),
		"slides by other ways":       zipOf(t, zip.Deflate, "p.rels", `<Relationship Id="a" Target="slides/slide1.xml"/><Relationship Id="b" Target="./slides/slide1.xml"/>`),
		"slides from the top":        zipOf(t, zip.Deflate, "p.rels", `<Relationship Id="a" Target="slides/slide1.xml"/><Relationship Id="b" Target="/ppt/slides/slide1.xml"/>`),
		"chapters by other ways":     zipOf(t, zip.Deflate, "a.opf", `<manifest><item href="a.xhtml"/><item href="%61.xhtml"/></manifest>`),
		"chapters from further up":   zipOf(t, zip.Deflate, "a.opf", `<manifest><item href="a.xhtml"/><item href="../b/a.xhtml"/></manifest>`),
		"one file with two names":    archive + archive[strings.Index(archive, "PK\x01\x02"):],
		"binary tables":              zipOf(t, zip.Deflate, "t.xml", `<Types><Default ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/></Types>`),
	} {
		if n := fileTokens(t, file); n < unread {
			t.Errorf("%s: %d tokens", name, n)
		}
	}
	for name, file := range map[string]string{
		"slides":   zipOf(t, zip.Deflate, "p.xml", `<p:sldIdLst><p:sldId id="256" r:id="rId2"/></p:sldIdLst><p14:sldIdLst><p14:sldId id="256"/></p14:sldIdLst>`),
		"chapters": zipOf(t, zip.Deflate, "a.opf", `<manifest><item href="a/1.xhtml"/><item href="b/1.xhtml"/></manifest>`),
		"cells":    zipOf(t, zip.Deflate, "a.xml", strings.Repeat(`<c r="A1" t="str"><f>B1</f><v>yes</v></c><c t="n"><v>1.5</v></c>`, 50), "b.xml", "<si>"+strings.Repeat("word ", 500)+"</si>"),
		"a table":  zipOf(t, zip.Deflate, "a.xml", `<table:table-row table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>`),
		"words":    zipOf(t, zip.Deflate, "a.xml", "<w:t>an oft-repeated 500 words</w:t>"+strings.Repeat("word ", 500)),
	} {
		if n := cost.RawFileTokens([]byte(file)); n > 5000 {
			t.Errorf("%s: %d tokens", name, n)
		}
	}
}
