package figures

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// Program is a program that shows the results of a benchmark run.
type Program struct {
	Tables   func(*Results) string          // in Markdown, as the document has them
	Bars     func(*Results) (string, error) // an SVG
	Pictures map[string]func() string       // others, which need no results, by name
}

// Run does what the arguments say:
//
//	tables [FILE]        writes the tables to stdout
//	bars [FILE]          draws the bars
//	fill FILE DOCUMENT   puts the tables into a document
//	PICTURE              draws one of the others
//
// FILE is the output of go test -bench; without one it comes in on stdin.
func (p Program) Run(args []string, stdin io.Reader, stdout io.Writer) error {
	switch {
	case len(args) == 1 && p.Pictures[args[0]] != nil:
		return write(stdout, p.Pictures[args[0]]())
	case len(args) == 3 && args[0] == "fill":
	case len(args) == 0 || len(args) > 2 || args[0] != "bars" && args[0] != "tables":
		return fmt.Errorf("usage: plot bars|tables [FILE], plot fill FILE DOCUMENT, or one of %v", slices.Sorted(maps.Keys(p.Pictures)))
	}
	if len(args) > 1 {
		f, err := os.Open(args[1])
		if err != nil {
			return err
		}
		defer f.Close()
		stdin = f
	}
	r, err := Read(stdin)
	if err != nil {
		return err
	}
	switch args[0] {
	case "tables":
		return write(stdout, p.Tables(r))
	case "fill":
		return fill(args[2], p.Tables(r))
	}
	picture, err := p.Bars(r)
	if err != nil {
		return err
	}
	return write(stdout, picture)
}

func write(w io.Writer, s string) error {
	_, err := io.WriteString(w, s)
	return err
}

// What stands between these two lines of a document is written anew.
const (
	tablesBegin = "<!-- figures: go run ./plot fill -->\n"
	tablesEnd   = "<!-- end of figures -->\n"
)

func fill(path, tables string) error {
	document, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin, end := bytes.Index(document, []byte(tablesBegin)), bytes.Index(document, []byte(tablesEnd))
	if begin < 0 || end < begin {
		return errors.New("the document has no place for the tables: two lines that begin with <!-- figures and <!-- end")
	}
	begin += len(tablesBegin)
	return os.WriteFile(path, slices.Concat(document[:begin], []byte("\n"+tables+"\n"), document[end:]), 0o644)
}
