package upstream_test

import (
	"fmt"
	"regexp"
	"strings"
)

// plainlyRedacted is what Redact does, written without regard to what it costs: it spells out all that may stand for a character, and tries
// that everywhere.
func plainlyRedacted(text string) string {
	var out strings.Builder
next:
	for i := 0; i < len(text); {
		for _, p := range plainSought {
			begins := i == 0 || !plainWord.MatchString(text[i-1:i]) || i > 1 && text[i-2] == '\\'
			if n := len(p.pattern.FindString(text[i:])); n > 0 && (begins || !p.account) {
				out.WriteString(p.instead)
				i += n
				continue next
			}
		}
		out.WriteByte(text[i])
		i++
	}
	return out.String()
}

var plainWord = regexp.MustCompile(`[A-Za-z0-9_]`)

type plainly struct {
	account bool // it begins a word, be it behind an escape
	pattern *regexp.Regexp
	instead string
}

var plainSought = func() []plainly {
	// A name's letters, digits, dashes and underscores, of which there are so many at least.
	const name = `(?:[A-Za-z0-9_-]|\\+u00(?i:2d|3[0-9]|4[1-9a-f]|5[0-9a]|5f|6[1-9a-f]|7[0-9a])){6,}`
	of := func(text, more string) *regexp.Regexp { return regexp.MustCompile("^" + spelled(text) + more) }
	return []plainly{{false, of(streamKey, ""), "[key]"}, {true, of("org-", name), "org-…"}, {true, of("proj_", name), "proj_…"}}
}()

// spelled is a pattern of all that stands for a text in JSON, or in a string of JSON in JSON.
func spelled(text string) string {
	pattern := ""
	for i, c := range text {
		raw := `\\*` // any number, as those that are too many are passed over one by one
		if i == 0 {
			raw = ""
		}
		pattern += fmt.Sprintf(`(?:%s%s|\\+u(?i:00%02x))`, raw, regexp.QuoteMeta(string(c)), c)
	}
	return pattern
}
