// Package pages reads the documents, so that tests can hold their tables against the code.
//
// A table is found by how its head begins, and its cells are told from each other by bars: there can be none within a cell.
package pages

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Page is a document.
type Page struct {
	name string
	Text string
}

// Read reads the document of a path.
func Read(t testing.TB, path string) *Page {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return &Page{name: path, Text: string(text)}
}

// Table returns the rows of the one table whose head begins so, without the head.
func (p *Page) Table(t testing.TB, head string) (rows [][]string) {
	t.Helper()
	_, table, found := strings.Cut(p.Text, "\n"+head)
	if !found || strings.Contains(table, "\n"+head) {
		t.Fatalf("%s must have one table that begins with %q", p.name, head)
	}
	lines := strings.Split(table, "\n")
	for _, line := range lines[min(2, len(lines)):] { // without the rest of the head, and the line under it
		if !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	if len(rows) == 0 {
		t.Fatalf("%s: the table that begins with %q has no rows", p.name, head)
	}
	return rows
}

// Block returns the one block of code of a language.
func (p *Page) Block(t testing.TB, language string) string {
	t.Helper()
	_, block, found := strings.Cut(p.Text, "\n```"+language+"\n")
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatalf("%s has no block of %s", p.name, language)
	}
	return block
}

var (
	code  = regexp.MustCompile("`([^`]+)`")
	block = regexp.MustCompile("(?s)\n```.*?\n```")
)

// Code returns what is written as code in a text, in the order of the text, but for whole blocks of it.
func Code(text string) (all []string) {
	for _, found := range code.FindAllStringSubmatch(block.ReplaceAllString(text, ""), -1) {
		all = append(all, found[1])
	}
	return all
}
