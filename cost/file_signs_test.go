package cost_test

import (
	"archive/zip"
	"strings"
	"testing"
)

// TestSpacesThatATagStandsFor: a text document has a number where it shows that many spaces, and tags where it shows what is no
// letter.
func TestSpacesThatATagStandsFor(t *testing.T) {
	const many = 100_000
	in := func(tags string) string { return zipOf(t, zip.Deflate, "content.xml", "<office:text>"+tags) }
	for name, c := range map[string]struct {
		tags        string
		least, most int64
	}{
		"spaces":                     {`<text:s text:c="100000"/>`, many, many + 1000},
		"with another prefix":        {`<x:s x:c='100000'/>`, many, many + 1000},
		"with other space":           {"<text:s\ttext:c = \"100000\" />", many, many + 1000},
		"behind another value":       {`<text:s a:b=">" text:c="100000"/>`, many, many + 1000},
		"the larger of two":          {`<text:s a:c="2" text:c="100000"/>`, many, many + 1000},
		"behind a text in a comment": {`<!-- > <![CDATA[ --><text:s text:c="100000"/><!-- ]]> -->`, many, many + 1000},
		"in cells":                   {`<a:table-cell table:number-columns-repeated="1000"><text:s text:c="100"/></a:table-cell>`, many, many + 1000},
		"a number that is none":      {`<text:s text:c="&#49;00000"/>`, unread, unread},
		"a number with a sign":       {`<text:s text:c="+100000"/>`, unread, unread},
		"a long number":              {`<text:s text:c="00000000100000"/>`, unread, unread},
		"one each":                   {strings.Repeat("<text:s/><text:tab/>", 500), 1000, 1500},
		"ends of lines":              {strings.Repeat("<w:p/><w:br/>", 500), 1000, 1500},
		"a long prefix":              {"<" + strings.Repeat("x", 200) + `:s text:c="100000"/>`, many, many + 1000},
		"a few":                      {`<text:p>if x:<text:s text:c="4"/>y</text:p>`, 0, 500},
		"an item of a summary":       {`<s v="x" c="a caption"/>`, 0, 500},
		"16 bits":                    {"", many, many + 1000},
	} {
		file := in(c.tags)
		if name == "16 bits" {
			file = zipOf(t, zip.Deflate, "content.xml", in16(`<a><text:s text:c="100000"/>`))
		}
		if n := fileTokens(t, file); n < c.least || n > c.most {
			t.Errorf("%s: %d tokens in %d bytes, want %d to %d", name, n, len(file), c.least, c.most)
		}
	}
}
