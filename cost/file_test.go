package cost_test

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
)

// unread is what a file is taken to be that cannot be read.
const unread = 1 << 24

func deflated(s string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write([]byte(s))
	w.Close()
	return b.String()
}

// stream is an object that is a stream; dict is what its dictionary has besides its length.
func stream(dict, data string) string {
	return fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", dict, len(data), data)
}

// packed is a stream that is deflated.
func packed(dict, data string) string { return stream(dict+"/Filter/FlateDecode", deflated(data)) }

// shown is a text as a page shows it.
func shown(text string) string { return "BT /F 1 Tf (" + text + ") Tj ET" }

// pdfOf is a PDF file of objects, numbered from 1 on.
func pdfOf(objects ...string) string {
	s := "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
	for i, o := range objects {
		s += fmt.Sprintf("%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	return s + "xref\n0 1\n0000000000 65535 f \ntrailer<</Root 1 0 R>>\nstartxref\n9\n%%EOF"
}

// page is a PDF file of one page, whose content is object 4, followed by others.
func page(objects ...string) string {
	return pdfOf(append([]string{"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>", "<</Type/Page/Parent 2 0 R/Contents 4 0 R>>"}, objects...)...)
}

// zipOf is an archive of deflated files, each with its name before it.
func zipOf(t testing.TB, method uint16, files ...string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.CreateHeader(&zip.FileHeader{Name: files[i], Method: method})
		if err != nil {
			t.Fatal(err)
		}
		f.Write([]byte(files[i+1]))
	}
	w.Close()
	return b.String()
}

// fileTokens is what a file is taken to be, which is the same in a request, with a type and without, and in an upload.
func fileTokens(t testing.TB, file string) int64 {
	t.Helper()
	n := cost.RawFileTokens([]byte(file))
	text := base64.StdEncoding.EncodeToString([]byte(file))
	if got := cost.FileTokens([]byte("data:application/pdf;base64," + text)); got != n {
		t.Errorf("%.20q: %d tokens in a data: URL, %d as it is", file, got, n)
	}
	if got := cost.FileTokens([]byte(text)); got != max(n, int64(len(text))) && got != n {
		t.Errorf("%.20q: %d tokens in base64, %d as it is", file, got, n)
	}
	return n
}

// A document that is small because it is compressed is taken for what it shows.
func TestFilesThatGrow(t *testing.T) {
	const words = 20_000 // bytes; little enough for a small file to hold
	text := strings.Repeat("word ", words/5)
	letters := strings.Repeat("(w) Tj ", words)
	for name, c := range map[string]struct {
		file  string
		least int64
	}{
		"text":                         {page(packed("", shown(text))), words + 5000},
		"much text":                    {page(packed("", shown(strings.Repeat("word ", 1_000_000)))), unread},
		"letter by letter":             {page(packed("", letters)), words},
		"hexadecimal":                  {page(packed("", "<"+strings.Repeat("776f", words/2)+"> Tj")), words},
		"a filter with an odd name":    {page(stream("/F#69lter/#46lateDecode", deflated(shown(text)))), words},
		"a filter in a list":           {page(stream("/Filter [ /FlateDecode ]", deflated(shown(text)))), words},
		"a filter that is not named":   {page(stream("", deflated(shown(text)))), words},
		"a filter that stands apart":   {page(stream("/Filter 9 0 R", deflated(shown(text)))), words},
		"two filters":                  {page(stream("/Filter[/Fl/Fl]", deflated(deflated(shown(text))))), words},
		"LZW":                          {page(stream("/Filter/LZWDecode", "\x80\x0b")), unread},
		"run lengths":                  {page(stream("/Filter/RL", "\x80w")), unread},
		"hexadecimal, deflated":        {page(stream("/Filter[/AHx/Fl]", fmt.Sprintf("%x>", deflated(shown(text))))), words},
		"encrypted":                    {page(packed("", "x"), "<</Enc#72ypt 9 0 R>>"), unread},
		"text called a picture":        {page(packed("/Subtype/Image/Width 9/Height 9", shown(text))), words},
		"text called a font":           {page(packed("/Length1 9", shown(text))), words},
		"a picture that is a content":  {page(stream("/Subtype/Image/Width 9/Height 9/Filter/DCTDecode", "\xff\xd8")), unread},
		"a form called a picture":      {page("null", packed("/Subtype/Form/Subtype/Image/Width 9/Height 9", shown(text))), words},
		"a stream in a string":         {page("null", "<</X( 9 0 obj <</Subtype/Image/Width 9/Height 9>> stream )/Filter/FlateDecode>>stream\n"+deflated(shown(text))), words},
		"a filter before a string":     {page("null", "<</Filter/LZWDecode/X( 9 0 obj )>>stream\n\x80\x0b\nendstream"), unread},
		"objects in a picture":         {page("null", stream("/Subtype/Image/Width 9/Height 9", pdfOf(packed("", shown(text))))), words},
		"a content of many pages":      {pdfOf("<</Kids[3 0 R 4 0 R 5 0 R]>>", packed("", shown(text)), "<</Contents 2 0 R>>", "<</Contents%\n2 0 R>>", "<</#43ontents [2 0%x\rR 2 0 R]>>"), 4 * words},
		"pages in an object":           {pdfOf(packed("/Type/ObjStm/N 2/First 10", "5 0 6 20 <</Kids[6 0 R 7 0 R 8 0 R]>> <</Type /Page/Contents 2 0 R>>"+strings.Repeat("<</Type%\n/Page/Contents 2 0 R>>", 9)), packed("", shown(text))), 10 * (words + 5000)},
		"objects called a picture":     {pdfOf(packed("/Subtype/Image/Width 9/Height 9/N 2/First 10", strings.Repeat("<</Type/Page/Contents 2 0 R>>", 10)), packed("", shown(text))), 10 * (words + 5000)},
		"a list of contents of many":   {pdfOf("<</Contents 3 0 R>>", "<</Contents 3 0 R>>", "[4 0 R]", packed("", shown(text))), unread},
		"pages":                        {pdfOf(strings.Repeat("<</Type /Page>>", 100)), 500_000},
		"pages that are counted alone": {pdfOf("<</Count 100 /Kids[3 0 R]>>"), 500_000},
		"pages without a type":         {pdfOf("<</Kids[3 0 R 4 0 R 5 0 R 6 0 R]>>"), 20_000},
		"a page again and again":       {pdfOf("<</Kids[3 0 R 4 0 R 3 0 R]>>"), unread},
		"a page in two lists":          {pdfOf("<</Kids[3 0 R]>>", "<</Kids[3 0 R]>>"), unread},
		"pages whose list is apart":    {pdfOf("<</Kids 9 0 R>>"), unread},
		"a form again and again":       {page(packed("/Resources<</XObject<</Fm 5 0 R>>>>", strings.Repeat("/F#6d Do ", 100)), packed("/Subtype/Form", shown(text))), 100 * words},
		"forms in forms":               {page(packed("", "/A Do /A Do"), packed("/Subtype/Form", strings.Repeat("/B Do ", 100)), packed("/Subtype/Form", shown(text)), "<</A 5 0 R/B 6 0 R>>"), 200 * words},
		"a form in itself":             {page(packed("", "/A Do"), packed("/Subtype/Form", "/A Do"), "<</A 5 0 R>>"), unread},
		"a look of many fields":        {page(packed("/Subtype/Form", shown(text)), "[<</AP<</N 4 0 R>>>><</AP<</N 4 0 R>>>>]"), 2 * words},
		"letters that are words":       {page(packed("", shown(text)), packed("", "beginbfchar <77> <"+strings.Repeat("0077", 30)+"> endbfchar")), 30 * words},
		"letters that are signs":       {page(packed("", shown(text)), packed("", "beginbfrange <00> <ff> <4E00> endbfrange")), 3 * words},
		"text that stands for text":    {page(packed("", strings.Repeat("/Span /P BDC EMC ", 100)), "<</P<</ActualText("+strings.Repeat("word ", 100)+")>>>>"), 100 * 500},
		"no beginning":                 {strings.TrimPrefix(page(packed("", shown(text))), "%PDF-1.7"), words},
		"a beginning further on":       {strings.Repeat(" ", 1000) + page(packed("", shown(text))), words},
		"zeros before what is packed":  {page(stream("/Filter/FlateDecode", "\n\n"+deflated(shown(text)))), words},
		"a broken end":                 {page(stream("/Filter/FlateDecode", deflated(shown(text + strings.Repeat("x", 99)))[:60])), 1000},
		"office":                       {zipOf(t, zip.Deflate, "word/document.xml", "<w:p>"+text+"</w:p>"), words},
		"office with much text":        {zipOf(t, zip.Deflate, "word/document.xml", "<w:p>"+strings.Repeat("word ", 1_000_000)), unread},
		"a description of a picture":   {zipOf(t, zip.Deflate, "a.xml", `<a descr="`+text+`"/>`), words},
		"text as it is":                {zipOf(t, zip.Deflate, "a.xml", "<a><![CDATA[<"+text+"]]></a>"), words},
		"text in a tag":                {zipOf(t, zip.Deflate, "a.html", "<p < "+text), words},
		"text that is no XML":          {zipOf(t, zip.Deflate, "a.txt", text), words},
		"16 bits":                      {zipOf(t, zip.Deflate, "a.xml", "<\x00"+text), words},
		"entities":                     {zipOf(t, zip.Deflate, "a.xml", `<!DOCTYPE a [<!ENTITY a "`+text+`">]>&a;`), unread},
		"not in the list":              {strings.ReplaceAll(zipOf(t, zip.Deflate, "a.xml", text), "PK\x01\x02", "PK\x01\x03"), words},
		"behind something else":        {"x" + zipOf(t, zip.Deflate, "a.xml", text), words},
		"packed unusually":             {strings.ReplaceAll(zipOf(t, zip.Deflate, "a.xml", "x"), "\x14\x00\x08\x00\x08\x00", "\x14\x00\x08\x00\x0e\x00"), unread},
		"packed as the list says":      {strings.Replace(zipOf(t, zip.Deflate, "a.xml", text), "PK\x03\x04\x14\x00\x08\x00\x08\x00", "PK\x03\x04\x14\x00\x08\x00\x00\x00", 1), words},
		"cells of one text":            {zipOf(t, zip.Deflate, "xl/sheet.xml", strings.Repeat(`<c t="s"><v>0</v></c>`, 500), "xl/sharedStrings.xml", "<sst><si><t>"+text[:1000]+"</t></si></sst>"), 500_000},
		"cells with odd numbers":       {zipOf(t, zip.Deflate, "s.xml", strings.Repeat(`<x:c t="s"><x:v> 0</x:v></x:c>`, 500), "t.xml", "<x:si><t>"+text[:1000]+"</t></x:si>"), 500_000},
		"a chapter again and again":    {zipOf(t, zip.Deflate, "a.opf", `<spine><itemref idref="a"/><itemref idref="a"/></spine>`), unread},
		"a slide again and again":      {zipOf(t, zip.Deflate, "p.xml", `<p:sldIdLst><p:sldId id="1" r:id="rId2"/><p:sldId id="2" r:id="rId2"/></p:sldIdLst>`), unread},
		"pages of a Mac":               {zipOf(t, zip.Store, "Index/a.iwa", text[:1000]), 22_000},
	} {
		n := fileTokens(t, c.file)
		if n < c.least {
			t.Errorf("%s: %d tokens in %d bytes, want at least %d", name, n, len(c.file), c.least)
		}
		t.Logf("%s: %d tokens in %d bytes", name, n, len(c.file))
	}
}

// What cannot be read is taken for all that the model can hold, and for more than any can where that is not known.
func TestFilesFillAModelAtMost(t *testing.T) {
	r := cost.Request{FileTokens: 3 * unread, HasMaxOutput: true}
	known := catalog(t).Model("gpt-4o")
	for _, c := range []struct {
		model cost.Model
		want  int64
	}{{known, known.Context}, {cost.Model{}, 3 * unread}, {cost.Model{Context: 5 * unread}, 3 * unread}} {
		if est := cost.NewEstimator().Estimate(r, c.model); est.ByPart[cost.PartFiles] != c.want || c.want == 0 {
			t.Errorf("%s: %d tokens, want %d", c.model.Name, est.ByPart[cost.PartFiles], c.want)
		}
	}
}

// Documents as people have them are not taken for what no model can hold.
func TestFilesAsTheyAre(t *testing.T) {
	text := "The quick brown fox jumps over the lazy dog, and so on. "
	var lines string
	for i := range 60 {
		lines += fmt.Sprintf("1 0 0 1 72 %d Tm (%s%d) Tj\n", 720-12*i, text, i*i)
	}
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(i * i >> 7)
	}
	var rows, cells string
	for i := range 500 {
		rows += fmt.Sprintf(`<row r="%d"><c r="A%d" s="1"><v>%d</v></c><c r="B%d" t="s"><v>%d</v></c></row>`, i, i, 2000+i, i, i%5)
	}
	for range 5 {
		cells += "<si><t>" + text + "</t></si>"
	}
	for name, c := range map[string]struct {
		file string
		most int64
	}{
		"a page":             {page(packed("", lines)), 10_000},
		"a page with a font": {page(packed("", lines), packed("/Length1 40000", string(noise))), 160_000}, // by its size
		"a page that was scanned": {
			page(packed("", "q 1 0 0 1 0 0 cm /Im Do Q"), stream("/Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceRGB/Filter/DCTDecode", string(noise))), 160_000,
		},
		"a page with tables of characters": {page(packed("", lines), packed("", "beginbfchar <01> <00660069> <02> <2022> endbfchar beginbfrange <20> <7e> <0020> endbfrange")), 11_000},
		"a letter": {zipOf(t, zip.Deflate, "[Content_Types].xml", `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"></Types>`,
			"word/document.xml", `<w:document xmlns:w="http://schemas.openxmlformats.org/">`+strings.Repeat(`<w:p w:rsidR="00AB12CD"><w:r><w:rPr><w:b/></w:rPr><w:t>`+text+`</w:t></w:r></w:p>`, 50)), 3000},
		"a table": {zipOf(t, zip.Deflate, "xl/worksheets/sheet1.xml", rows, "xl/sharedStrings.xml", "<sst>"+cells+"</sst>"), 500*60 + 8000},
	} {
		n := fileTokens(t, c.file)
		if n > c.most {
			t.Errorf("%s: %d tokens in %d bytes, want at most %d", name, n, len(c.file), c.most)
		}
		t.Logf("%s: %d tokens in %d bytes", name, n, len(c.file))
	}
}
