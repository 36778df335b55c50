package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// place is where something stands in a file. Its zero value is nowhere.
type place struct {
	file      *source
	line, col int // counted from 1; col in characters
	width     int // characters; at least 1 is underlined
}

func (p place) String() string {
	if p.file == nil {
		return "the configuration"
	}
	if p.line == 0 {
		return p.file.name
	}
	return fmt.Sprintf("%s:%d:%d", p.file.name, p.line, p.col)
}

// problem is one mistake and how to mend it.
type problem struct {
	at       place
	msg, fix string
}

// shownProblems is how many problems are printed: beyond that, nobody reads on.
const shownProblems = 200

// problems is every mistake found in a configuration. As an error it prints each with its line, a caret and the fix;
// nothing that is, or looks like, a secret is printed.
type problems struct {
	list    []problem
	secrets secrets
}

func (p *problems) add(at place, fix, format string, args ...any) {
	p.list = append(p.list, problem{at: at, msg: fmt.Sprintf(format, args...), fix: fix})
}

// err returns the problems as an error, in the order of the text, or nil when there are none.
func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	slices.SortStableFunc(p.list, func(a, b problem) int {
		return cmp.Or(a.at.file.compare(b.at.file), cmp.Compare(a.at.line, b.at.line), cmp.Compare(a.at.col, b.at.col))
	})
	p.list = slices.CompactFunc(p.list, func(a, b problem) bool { return a == b })
	return p
}

// Error implements error.
func (p *problems) Error() string {
	var b strings.Builder
	for i, one := range p.list {
		if i == shownProblems {
			fmt.Fprintf(&b, "\n… and %d more.", len(p.list)-i)
			break
		}
		if i > 0 {
			b.WriteString("\n")
		}
		p.write(&b, one)
	}
	if n := len(p.list); n > 1 {
		fmt.Fprintf(&b, "\n%d problems.", n)
	}
	return strings.TrimRight(b.String(), "\n")
}

func (p *problems) write(b *strings.Builder, one problem) {
	fmt.Fprintf(b, "%s: %s\n", one.at, p.secrets.mask(one.msg))
	if line, ok := one.at.text(); ok {
		shown, col, width := p.secrets.maskLine(line, one.at.col, one.at.width)
		shown, col, width = window(shown, col, width)
		number := fmt.Sprintf("%5d", one.at.line)
		fmt.Fprintf(b, "%s | %s\n", number, shown)
		fmt.Fprintf(b, "%*s | %s%s\n", len(number), "", blanks(shown, col-1), strings.Repeat("^", max(1, width)))
	}
	if one.fix != "" {
		fmt.Fprintf(b, "      fix: %s\n", p.secrets.mask(one.fix))
	}
}

// text returns the line the place is on.
func (p place) text() (string, bool) {
	if p.file == nil || p.line < 1 || p.line > len(p.file.lines) {
		return "", false
	}
	return p.file.lines[p.line-1], true
}

// blanks is n characters of nothing, with tabs where the line has them, so that a caret stands where it should.
func blanks(line string, n int) string {
	var b strings.Builder
	for _, r := range line {
		if n--; n < 0 {
			break
		}
		if r != '\t' {
			r = ' '
		}
		b.WriteRune(r)
	}
	for ; n > 0; n-- {
		b.WriteByte(' ')
	}
	return b.String()
}

// window cuts a long line down to the surroundings of the part underlined.
func window(line string, col, width int) (string, int, int) {
	const most = 140
	chars := []rune(line)
	width = max(1, min(width, len(chars)-col+1))
	if len(chars) <= most {
		return line, col, width
	}
	from := max(0, min(col-1-most/4, len(chars)-most))
	to := min(len(chars), from+most)
	width = min(width, to-col+1)
	cut := string(chars[from:to])
	if to < len(chars) {
		cut += "…"
	}
	if from > 0 {
		cut, from = "…"+cut, from-1
	}
	return cut, col - from, max(1, width)
}

// within narrows a place to a part of a scalar: offset and length count bytes of value. It narrows only where the
// value stands in the line as it is, unescaped and on one line.
func (p place) within(value string, offset, length int) place {
	line, ok := p.text()
	if !ok || offset < 0 || offset+length > len(value) {
		return p
	}
	chars := []rune(line)
	start := p.col - 1
	if start < len(chars) && (chars[start] == '"' || chars[start] == '\'') {
		start++
	}
	if start > len(chars) || !strings.HasPrefix(string(chars[start:]), value) {
		return p
	}
	p.col = start + 1 + utf8.RuneCountInString(value[:offset])
	p.width = utf8.RuneCountInString(value[offset : offset+length])
	return p
}
