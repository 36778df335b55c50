package main

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// secrets are the texts that must not be shown. What reads a secret adds it; what prints masks it. Because a mistake
// can hide a secret from whoever would have added it (a misspelt member, a file that is not YAML), whatever looks like
// a secret by its shape, or by the name before it, is masked as well.
type secrets struct{ known []string }

const stars = "***"

var (
	// Values of members that are named like secrets, up to the end of the value.
	secretMember = regexp.MustCompile(`(?i)["']?[\w-]*(?:\bkey|_key|apikey|token|secret|passw|credential|authorization|hash)[\w-]*["']?\s*:\s*(?:\$\{[^}]*\}|"[^"]*"?|'[^']*'?|[^\s,{}\[\]#]+)`)
	secretValue  = regexp.MustCompile(`:\s*["']?`)
	notSecret    = regexp.MustCompile(`^(?:\$\{?\w+\}?|sha256:[0-9a-fA-F…]*)$`)
	plainMember  = regexp.MustCompile(`(?i)(?:_file|_tokens|^["']?keys)["']?\s*:`)
	// Texts that look random: a known prefix, or sixteen letters and digits in a row (checked to hold both).
	secretPrefix = regexp.MustCompile(`\b(?:sk|tf|pk|rk|ghp|xox[a-z])[-_][A-Za-z0-9_-]{8,}`)
	secretRun    = regexp.MustCompile(`(?:sha256:)?[A-Za-z0-9]{16,}`)
	webhook      = regexp.MustCompile(`(?i)://[^\s"'/]*(?:hook[^\s"',}]*|/[^\s"',}]*hook[^\s"',}]*)`)
	userinfo     = regexp.MustCompile(`://[^/\s"'@]+@`)
)

// add remembers a secret, line by line. Very short ones are left to the mask by name, or they would blot out everything.
func (s *secrets) add(text string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); len(line) >= 4 && !notSecret.MatchString(line) {
			s.known = append(s.known, line)
		}
	}
}

// mask replaces every secret in a text of ours.
func (s *secrets) mask(text string) string {
	shown, _, _ := cover(text, s.shapes(text), 1, 1)
	return shown
}

// maskLine replaces every secret in a line of a file, by the name before it, too, and says where the part at col, width
// characters long, stands then.
func (s *secrets) maskLine(line string, col, width int) (string, int, int) {
	return cover(line, append(s.shapes(line), named(line)...), col, width)
}

func cover(line string, spans [][2]int, col, width int) (string, int, int) {
	var b strings.Builder
	done, chars := 0, 0
	newCol, end := col, col+width
	newEnd := end
	for _, span := range merged(spans) {
		b.WriteString(line[done:span[0]])
		chars += utf8.RuneCountInString(line[done:span[0]])
		was := utf8.RuneCountInString(line[span[0]:span[1]])
		shift := len(stars) - was
		switch from, to := chars+1, chars+was; {
		case col > to:
			newCol += shift
		case col > from:
			newCol += from - col
		}
		switch from, to := chars+1, chars+1+was; {
		case end >= to:
			newEnd += shift
		case end > from:
			newEnd += from + len(stars) - end
		}
		b.WriteString(stars)
		chars += was
		done = span[1]
	}
	b.WriteString(line[done:])
	return b.String(), newCol, max(1, newEnd-newCol)
}

// shapes finds known secrets and what looks like one, as byte ranges.
func (s *secrets) shapes(line string) [][2]int {
	var out [][2]int
	for _, k := range s.known {
		for from := 0; ; {
			i := strings.Index(line[from:], k)
			if i < 0 {
				break
			}
			out = append(out, [2]int{from + i, from + i + len(k)})
			from += i + len(k)
		}
	}
	for _, m := range secretPrefix.FindAllStringIndex(line, -1) {
		out = append(out, [2]int{m[0], m[1]})
	}
	for _, m := range secretRun.FindAllStringIndex(line, -1) {
		run := line[m[0]:m[1]]
		if !strings.HasPrefix(run, "sha256:") && strings.ContainsAny(run, "0123456789") && strings.Trim(run, "0123456789") != "" {
			out = append(out, [2]int{m[0], m[1]})
		}
	}
	for _, m := range webhook.FindAllStringIndex(line, -1) {
		out = append(out, [2]int{m[0] + len("://"), m[1]})
	}
	for _, m := range userinfo.FindAllStringIndex(line, -1) {
		out = append(out, [2]int{m[0] + len("://"), m[1] - 1})
	}
	return out
}

// named finds the values of members that are called like secrets.
func named(line string) [][2]int {
	var out [][2]int
	for _, m := range secretMember.FindAllStringIndex(line, -1) {
		value := secretValue.FindStringIndex(line[m[0]:m[1]])
		from, to := m[0]+value[1], m[1]
		if plainMember.MatchString(line[m[0]:from]) {
			continue
		}
		if to > from && (line[to-1] == '"' || line[to-1] == '\'') {
			to--
		}
		if to > from && !notSecret.MatchString(line[from:to]) {
			out = append(out, [2]int{from, to})
		}
	}
	return out
}

// merged puts ranges in order and joins those that overlap.
func merged(spans [][2]int) [][2]int {
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	out := spans[:0]
	for _, span := range spans {
		if n := len(out); n > 0 && span[0] <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], span[1])
			continue
		}
		out = append(out, span)
	}
	return out
}
