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

// TestPictures draws all pictures from a run that was kept, and compares them
// with the ones that were looked at.
func TestPictures(t *testing.T) {
	for _, c := range []struct {
		golden string
		args   []string
	}{
		{"bars.svg", []string{"bars", "testdata/sample.txt"}},
		{"tables.md", []string{"tables", "testdata/sample.txt"}},
		{"bucket.svg", []string{"bucket"}},
		{"window.svg", []string{"window"}},
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

// TestPublishedPictures makes sure that the documents show what this program
// draws.
func TestPublishedPictures(t *testing.T) {
	for name, kind := range map[string]string{"limiter-bucket.svg": "bucket", "limiter-window.svg": "window"} {
		published, err := os.ReadFile(filepath.Join("../../../docs", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(published, draw(t, nil, kind)) {
			t.Errorf("docs/%s is old: go run ./plot %s > ../../docs/%s", name, kind, name)
		}
	}
}

// TestNamesAreEscaped keeps a picture well-formed whatever a line is called.
func TestNamesAreEscaped(t *testing.T) {
	wellFormed(t, draw(t, strings.NewReader("BenchmarkOneBudget/a<b&\"c\"-2 1 12.5 cpu-ns/op\n"), "bars"))
}

func draw(t *testing.T, stdin io.Reader, args ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := program.Run(args, stdin, &out); err != nil {
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
