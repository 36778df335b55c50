package main

import (
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v4"
)

var (
	bareStar     = regexp.MustCompile(`(?:^|[\s\[{,])(\*[^\s,\]}]*)`)
	bareVariable = regexp.MustCompile(`\$\{[^}]*\}`)
)

// syntax says in our words why a file is not YAML: the mistakes people make with limits, patterns and variables first.
func (s *source) syntax(err error) problem {
	e, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return problem{at: s.top(), msg: "the file is not YAML", fix: err.Error()}
	}
	at := place{file: s, line: e.Mark.Line, col: e.Mark.Column, width: 1}
	if strings.Contains(e.ContextMsg, "quoted scalar") {
		at.line, at.col = e.ContextMark.Line, e.ContextMark.Column
		return problem{at: at, msg: "this quote is never closed", fix: "close it at the end of the value"}
	}
	if at.line > len(s.lines) || at.line == 0 {
		return problem{at: s.top(), msg: "the file is not YAML: " + e.Message, fix: "check brackets, braces, quotes and indentation"}
	}
	line := s.lines[at.line-1]
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	switch {
	case strings.Contains(e.Message, "anchor") || strings.Contains(e.ContextMsg, "alias"):
		if m := find(bareStar, line); m != nil {
			at.col, at.width = m.col, m.width
			return problem{at: at, msg: "in YAML a bare * refers to an anchor; here it begins a pattern", fix: "quote it: \"" + strings.TrimSuffix(m.text, ":") + "\""}
		}
	case strings.Contains(e.Message, "cannot start any token") && strings.Contains(indent, "\t"):
		at.col = utf8.RuneCountInString(line[:strings.Index(indent, "\t")]) + 1
		return problem{at: at, msg: "the line is indented with a tab, which YAML does not allow", fix: "indent with blanks"}
	case strings.Contains(e.Message, "mapping values are not allowed"):
		return problem{at: at, msg: "a second \": \" on this line cannot be read", fix: "quote the value that contains the colon, or begin a new line"}
	}
	if m := find(bareVariable, line); m != nil {
		at.col, at.width = m.col, m.width
		return problem{at: at, msg: "unquoted braces are YAML, not part of the value", fix: "quote it: \"" + m.text + "\""}
	}
	switch {
	case strings.Contains(e.Message, "cannot start any token"):
		return problem{at: at, msg: "a value cannot begin with this character", fix: "quote the value"}
	case strings.Contains(e.Message, "',' or '"):
		at.line, at.col = e.ContextMark.Line, e.ContextMark.Column
		closing := e.Message[len(e.Message)-2 : len(e.Message)-1]
		return problem{at: at, msg: "the list or mapping that begins here does not end where it should", fix: "close it with " + closing + ", put commas between its parts, and quote values that contain brackets, braces, commas or colons"}
	case s.openQuote(at.line) != nil:
		return problem{at: *s.openQuote(at.line), msg: "this quote is not closed on its line", fix: "close it at the end of the value"}
	case strings.Contains(e.Message, "did not find expected key"), strings.Contains(e.Message, "did not find expected '-'"):
		return problem{at: at, msg: "this does not continue what stands above it", fix: "indent it like its neighbours above, or quote the value it belongs to"}
	}
	return problem{at: at, msg: "this is not YAML: " + e.Message, fix: "check brackets, braces, quotes and indentation"}
}

// found is a piece of a line.
type found struct {
	text       string
	col, width int
}

// find returns the first match outside quotes: its first group if it has one. Comments count as quotes.
func find(re *regexp.Regexp, line string) *found {
	for _, m := range re.FindAllStringSubmatchIndex(line, -1) {
		from, to := m[len(m)-2], m[len(m)-1]
		if openAfter(line[:from]) != 0 {
			continue
		}
		return &found{text: line[from:to], col: utf8.RuneCountInString(line[:from]) + 1, width: utf8.RuneCountInString(line[from:to])}
	}
	return nil
}

// openAfter returns the quote, or the # of a comment, that is open after the text; 0 if there is none.
func openAfter(text string) rune {
	var open rune
	last := ' '
	for _, r := range text {
		switch {
		case open == '#':
		case open != 0:
			if r == open {
				open = 0
			}
		case r == '"' || r == '\'':
			if strings.ContainsRune(" [{,:", last) {
				open = r
			}
		case r == '#' && last == ' ':
			open = '#'
		}
		last = r
	}
	return open
}

// openQuote finds the first line before the given one that leaves a quote open: what YAML reads on from there is
// rarely what was meant, and the complaint comes lines later.
func (s *source) openQuote(before int) *place {
	for i, line := range s.lines[:before-1] {
		if q := openAfter(line); q == '"' || q == '\'' {
			at := strings.LastIndexByte(line, byte(q))
			return &place{file: s, line: i + 1, col: utf8.RuneCountInString(line[:at]) + 1, width: utf8.RuneCountInString(line[at:])}
		}
	}
	return nil
}
