package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v4"
)

// maxSource is the most bytes a configuration file may have.
const maxSource = 16 << 20

// source is one configuration file and the text of its lines.
type source struct {
	name  string // as shown to people
	dir   string // what paths in it are relative to
	order int    // in which it was read
	lines []string
	root  *yaml.Node // nil: the file is empty or could not be read
}

func (s *source) compare(other *source) int {
	if s == nil || other == nil {
		return cmp.Compare(boolInt(s != nil), boolInt(other != nil))
	}
	return cmp.Compare(s.order, other.order)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// place is where a node stands.
func (s *source) place(n *yaml.Node) place {
	p := place{file: s, line: n.Line, col: max(1, n.Column), width: max(1, utf8.RuneCountInString(n.Value))}
	switch {
	case n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode:
		p.width = 1
	case n.Kind == yaml.AliasNode:
		p.width++ // the star
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		p.width += 2
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		p.width = 1
	}
	return p
}

// top is the file as a whole.
func (s *source) top() place { return place{file: s} }

// readSource reads and parses one file. Mistakes of YAML itself become problems.
func readSource(path string, order int, out *problems) *source {
	s := &source{name: path, dir: filepath.Dir(path), order: order}
	text, err := readBounded(path, maxSource)
	if err != nil {
		out.add(s.top(), "check the path and its permissions", "cannot read the file: %v", reason(err))
		return s
	}
	s.parse(text, out)
	return s
}

// parse fills in the lines and the root.
func (s *source) parse(text []byte, out *problems) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	s.lines = strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
	for i, line := range s.lines {
		if !utf8.ValidString(line) {
			at := place{file: s, line: i + 1, col: 1, width: 1}
			s.lines[i] = strings.ToValidUTF8(line, "�")
			out.add(at, "save the file as UTF-8", "this line is not UTF-8")
			return
		}
	}
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		panic("BUG: the YAML loader refuses its default options: " + err.Error())
	}
	var doc yaml.Node
	if err := loader.Load(&doc); errors.Is(err, io.EOF) {
		return
	} else if err != nil {
		out.list = append(out.list, s.syntax(err))
		return
	}
	var second yaml.Node
	switch err := loader.Load(&second); {
	case err == nil:
		out.add(s.place(&second), "keep one document, and put the others into files of their own, named by `include`", "the file holds more than one YAML document")
	case !errors.Is(err, io.EOF):
		out.list = append(out.list, s.syntax(err))
	}
	if len(doc.Content) == 1 && !isNull(doc.Content[0]) {
		s.root = doc.Content[0]
	}
}

// readBounded reads a whole file of at most so many bytes.
func readBounded(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > most {
		return nil, fmt.Errorf("it is larger than %d bytes", most)
	}
	return text, nil
}

// reason is an error without the path, which the message around it names already.
func reason(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// included finds the files an include pattern names. The path is relative to the file that names it.
func (s *source) included(pattern string) ([]string, error) {
	paths, err := filepath.Glob(s.path(pattern))
	slices.Sort(paths)
	return paths, err
}

// path resolves a path written in the file.
func (s *source) path(p string) string {
	if filepath.IsAbs(p) || s.dir == "." {
		return p
	}
	return filepath.Join(s.dir, p)
}
