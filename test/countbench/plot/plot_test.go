package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestPictures draws the picture and the tables from a run that was kept, and compares
// them with the ones that were looked at.
func TestPictures(t *testing.T) {
	for _, c := range []struct {
		golden string
		args   []string
	}{
		{"bars.svg", []string{"bars", "testdata/sample.txt"}},
		{"tables.md", []string{"tables", "testdata/sample.txt"}},
	} {
		t.Run(c.golden, func(t *testing.T) {
			got := draw(t, nil, c.args...)
			if strings.HasSuffix(c.golden, ".svg") {
				wellFormed(t, got)
			}
			path := filepath.Join("testdata", c.golden)
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("not what is in %s: run go test ./plot -update, and look at it", path)
			}
		})
	}
}

func TestBarsFromStandardInput(t *testing.T) {
	sample, err := os.ReadFile("testdata/sample.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(draw(t, bytes.NewReader(sample), "bars"), draw(t, nil, "bars", "testdata/sample.txt")) {
		t.Error("standard input gives another picture than the file")
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		name, stdin string
		args        []string
		want        string
	}{
		{"no picture named", "", nil, "usage"},
		{"an unknown picture", "", []string{"pie"}, "usage"},
		{"too many files", "", []string{"bars", "a", "b"}, "usage"},
		{"a missing file", "", []string{"bars", "testdata/none"}, "none"},
		{"no benchmark in the input", "ok  \tpkg\t0.1s\n", []string{"bars"}, "no benchmark"},
		{"a figure that is none", "BenchmarkText/o200k_base/English/tokenizer-2 1 x MB/s\n", []string{"bars"}, "no figure"},
		{"nothing of what is drawn", "BenchmarkOther/tokenizer-2 1 2 x-of-ours\n", []string{"bars"}, "none of the texts"},
	} {
		err := run(c.args, strings.NewReader(c.stdin), io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// TestFill puts the tables between the two lines, and again without trace of
// the first time.
func TestFill(t *testing.T) {
	document := filepath.Join(t.TempDir(), "d.md")
	if err := os.WriteFile(document, []byte("before\n"+tablesBegin+"old\n"+tablesEnd+"after\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	want := "before\n" + tablesBegin + "\n" + string(draw(t, nil, "tables", "testdata/sample.txt")) + "\n" + tablesEnd + "after\n"
	for range 2 {
		draw(t, nil, "fill", "testdata/sample.txt", document)
		got, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("the document is now\n%s\nwant\n%s", got, want)
		}
	}
	if _, err := fill([]byte("no place"), &results{}); err == nil {
		t.Error("a document without a place for the tables was filled")
	}
}

// TestNamesAreEscaped keeps a picture well-formed whatever a line is called.
func TestNamesAreEscaped(t *testing.T) {
	wellFormed(t, draw(t, strings.NewReader("BenchmarkText/o200k_base/a<b&\"c\"/tokenizer-2 1 12.5 x-of-ours\n"), "bars"))
}

func draw(t *testing.T, stdin io.Reader, args ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := run(args, stdin, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func wellFormed(t *testing.T, svg []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for elements := 0; ; {
		switch token, err := d.Token(); {
		case errors.Is(err, io.EOF):
			if elements < 10 {
				t.Errorf("only %d elements", elements)
			}
			return
		case err != nil:
			t.Fatalf("not well-formed: %v", err)
		default:
			if _, ok := token.(xml.StartElement); ok {
				elements++
			}
		}
	}
}
