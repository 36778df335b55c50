package cost

import "strings"

// thinks reports whether a model of which nothing is known but its name may think what it never shows, and bill it: those of OpenAI's from
// o1 and gpt-5 on, of Google's from gemini-2.5, of xAI's from grok-4, of Anthropic's from claude-3-7, and whatever says that it thinks or reasons. Of any
// other name it is taken that what is made is seen, as it is of open models on servers of one's own.
//
// Sources: developers.openai.com/api/docs/guides/reasoning, ai.google.dev/gemini-api/docs/thinking, docs.x.ai/docs/guides/reasoning,
// docs.claude.com/en/docs/build-with-claude/extended-thinking.
func thinks(name string) bool {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	for _, word := range []string{"think", "reason", "grok-3-mini", "grok-code"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	switch {
	case strings.HasPrefix(name, "o") && from(name, "o", 1, 0):
	case from(name, "gpt-", 5, 0) && !strings.Contains(name, "gpt-35"): // as Azure writes 3.5
	case from(name, "gemini-", 2, 5), strings.Contains(name, "gemini-") && strings.HasSuffix(name, "-latest"):
	case from(name, "grok-", 4, 0), claudeThinks(name):
	default:
		return false
	}
	return true
}

// from reports whether there is a version behind family in a name, and that is no older than major.minor.
func from(name, family string, major, minor int) bool {
	_, version, ok := strings.Cut(name, family)
	if !ok || version == "" || version[0] < '0' || version[0] > '9' {
		return false
	}
	first, rest := number(version)
	second := 0
	if len(rest) > 1 && (rest[0] == '.' || rest[0] == '-') {
		second, _ = number(rest[1:])
	}
	return first > major || first == major && second >= minor
}

// number reads the digits that a text begins with, of which two say all that there is to know.
func number(text string) (n int, rest string) {
	for text != "" && text[0] >= '0' && text[0] <= '9' {
		n, text = min(10*n+int(text[0]-'0'), 99), text[1:]
	}
	return n, text
}

// claudeThinks is for names of two kinds: claude-3-7-sonnet, and since then claude-opus-4-1.
func claudeThinks(name string) bool {
	_, rest, ok := strings.Cut(name, "claude-")
	if !ok {
		return false
	}
	if rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		return from(name, "claude-", 3, 7)
	}
	_, version, _ := strings.Cut(rest, "-")
	return from("v"+version, "v", 4, 0)
}
