package limit

import (
	"slices"
	"strings"
)

// rewrite turns what people write elsewhere ("200k tpm", "$10/day", "10 dollars a month") into the grammar, or returns
// "" when it has nothing to offer. Its result is only a proposal: the caller parses it before showing it.
func rewrite(sentence string) string {
	parts, err := clauses(sentence)
	if err != nil {
		return ""
	}
	var out []string
	head, together := withoutTogether(parts[0])
	parts[0] = head
	for i, part := range parts {
		if i > 0 && len(part) > 0 && len(out) > 0 {
			out[len(out)-1] += ","
		}
		models := false
		for _, w := range part {
			name := models && !w.is("burst") && !w.is("observe") && !w.is("until")
			if _, day := date(w.text, nil); name || day {
				out = append(out, w.text) // model names and dates are left alone
				continue
			}
			models = w.is("on") || w.is("for")
			out = append(out, expand(w.text)...)
		}
	}
	out = merge(out)
	out = calendar(out)
	if together {
		out = atOnce(out)
	}
	return strings.Join(out, " ")
}

// waysToSayAtOnce is how people say it elsewhere, and where they put it.
var waysToSayAtOnce = [...]string{
	"at once", "at a time", "at one time", "at the same time", "in parallel", "in flight", "in-flight",
	"parallel", "concurrent", "concurrently", "concurrency", "simultaneous", "simultaneously",
}

// withoutTogether takes out the words that say "at once", before they are taken for others: the "a" of "at a time" means "per"
// elsewhere.
func withoutTogether(words []word) (rest []word, found bool) {
	for _, way := range waysToSayAtOnce {
		said := strings.Fields(way)
		for i := range len(words) - len(said) + 1 {
			if slices.EqualFunc(words[i:i+len(said)], said, word.is) {
				return slices.Concat(words[:i], words[i+len(said):]), true
			}
		}
	}
	return words, false
}

// atOnce says so where the grammar has it, after the requests that it counts.
func atOnce(words []string) []string {
	if len(words) == 0 {
		return nil
	}
	amount, comma := strings.CutSuffix(words[0], ",")
	said := []string{amount, "requests", "at", "once"}
	rest := words[1:]
	if !comma && len(rest) > 0 && strings.HasPrefix(rest[0], "request") {
		comma = strings.HasSuffix(rest[0], ",")
		rest = rest[1:]
	}
	if comma {
		said[3] += ","
	}
	return append(said, rest...)
}

// spelled lists other spellings, each as the words of the grammar.
var spelled = map[string]string{
	"tpm": "tokens per minute", "tps": "tokens per second", "tph": "tokens per hour", "tpd": "tokens per day",
	"itpm": "input tokens per minute", "otpm": "output tokens per minute",
	"rpm": "requests per minute", "rps": "requests per second", "rph": "requests per hour", "rpd": "requests per day", "qps": "requests per second",
	"tok": "tokens", "toks": "tokens", "req": "requests", "reqs": "requests", "call": "request", "calls": "requests", "queries": "requests",
	"prompt": "input", "completion": "output",
	"a": "per", "an": "per", "every": "per", "pr": "per",
	"hourly": "each hour", "daily": "each day", "weekly": "each week", "monthly": "each month", "quarterly": "each quarter",
	"sec": "second", "secs": "seconds", "s": "seconds", "min": "minute", "mins": "minutes", "hr": "hour", "hrs": "hours", "h": "hours", "d": "days",
	"wk": "week", "mo": "month", "mth": "month", "qtr": "quarter",
	"overall": "in total", "altogether": "in total", "lifetime": "in total",
	"for": "on", "observe-only": "observe only", "shadow": "observe only",
	"dollar": "dollars", "usd": "dollars", "bucks": "dollars",
	"thousand": "k", "million": "m", "mio": "m", "billion": "b",
	"max": "", "maximum": "", "most": "", "up": "", "to": "", "limit": "", "of": "", "max.": "", "at": "", "burst:": "burst",
}

// expand rewrites one word: "10/day" is three of them, "90s" two, "tpm" three.
func expand(s string) []string {
	comma := strings.HasSuffix(s, ",")
	s = strings.TrimSuffix(s, ",")
	var out []string
	for i, piece := range strings.Split(s, "/") {
		if i > 0 {
			out = append(out, "per")
		}
		number, letters := cutNumber(piece)
		if number != "" {
			out = append(out, number)
		}
		if letters == "" {
			continue
		}
		if words, ok := spelled[strings.ToLower(letters)]; ok {
			letters = words
		}
		out = append(out, strings.Fields(letters)...)
	}
	if comma && len(out) > 0 {
		out[len(out)-1] += ","
	}
	return out
}

// cutNumber splits a word such as "90s" or "1,000" into an amount of the grammar and the letters after it.
func cutNumber(s string) (number, letters string) {
	end := 0
	for end < len(s) && (digit(s[end]) || strings.IndexByte("._,", s[end]) >= 0 || s[end] == '$' && end == 0) {
		end++
	}
	number, letters = strings.ReplaceAll(s[:end], ",", ""), s[end:]
	if strings.Trim(number, "$._") == "" && number != "$" {
		return "", s
	}
	switch strings.ToLower(letters) {
	case "k", "m", "b":
		return number + strings.ToLower(letters), ""
	case "$":
		return "$" + number, ""
	}
	return number, letters
}

// merge joins what belongs in one word (the sign and its number, a number and its thousands) and puts in the commas
// and the word "only" that are missing.
func merge(in []string) []string {
	var out []string
	for i, w := range in {
		last := len(out) - 1
		bare := strings.TrimSuffix(w, ",")
		switch {
		case last < 0:
			out = append(out, w)
		case out[last] == "$" && digit(w[0]):
			out[last] += w
		case bare == "dollars" && digit(out[last][0]):
			out[last] = "$" + out[last] + strings.TrimPrefix(w, "dollars")
		case bare == "$" && digit(out[last][0]) && (i+1 == len(in) || !digit(in[i+1][0])): // "10 $ per month"
			out[last] = "$" + out[last] + strings.TrimPrefix(w, "$")
		case out[last] == "dollars" && digit(w[0]):
			out[last] = "$" + w
		case (bare == "k" || bare == "m" || bare == "b") && digit(out[last][len(out[last])-1]):
			out[last] += w
		case (w == "burst" || w == "observe" || w == "until") && !strings.HasSuffix(out[last], ","):
			out[last] += ","
			out = append(out, w)
		case bare == "total" && out[last] != "in":
			out = append(out, "in", w)
		case w == "per" && (out[last] == "per" || out[last] == "in" || out[last] == "each"):
			if out[last] == "in" { // "in a minute"
				out = append(out, "any")
			}
		default:
			out = append(out, w)
		}
		if w == "observe" && (i+1 == len(in) || in[i+1] != "only") {
			out = append(out, "only")
		}
	}
	return out
}

// calendar says "each" where a day or more is meant by the calendar, and "per" where it cannot be.
func calendar(words []string) []string {
	burst := false
	for _, w := range words {
		burst = burst || w == "burst"
	}
	for i := range len(words) - 1 {
		next := strings.TrimSuffix(words[i+1], ",")
		switch {
		case words[i] == "per" && (next == "week" || next == "month" || next == "quarter" || next == "day" && !burst):
			words[i] = "each"
		case words[i] == "each" && (next == "minute" || next == "second" || next != "" && digit(next[0])):
			words[i] = "per"
		}
	}
	return words
}
