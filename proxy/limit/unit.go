package limit

var unitNames = [...]string{"tokens", "input tokens", "uncached input tokens", "output tokens", "requests", "dollars"}

// String is the unit as sentences say it, in the plural.
func (u Unit) String() string {
	if int(u) < len(unitNames) {
		return unitNames[u]
	}
	return "unknown unit"
}

// unit reads the unit that follows an amount and returns the words after it.
func unit(after word, words []word, end int) (Unit, []word, *Error) {
	const which = "say what is counted: tokens, input tokens, output tokens, requests, or dollars with their sign, as in $50"
	if len(words) == 0 {
		return 0, nil, &Error{Offset: after.off, Length: len(after.text), Msg: "the amount has no unit", Fix: which}
	}
	u, n := Tokens, 1
	switch w := words[0]; {
	case w.oneOf("tokens", "token") >= 0:
	case w.oneOf("requests", "request") >= 0:
		u = Requests
	case w.is("input"):
		u, n = InputTokens, 2
	case w.is("output"):
		u, n = OutputTokens, 2
	case w.is("uncached"):
		u, n = UncachedInputTokens, 3
		if len(words) < 2 || !words[1].is("input") {
			return 0, nil, fail(w, "write `uncached input tokens`", "%s is not a unit", quote(w.text))
		}
	case w.oneOf("per", "in", "each", "at", "until") >= 0:
		return 0, nil, &Error{Offset: after.off, Length: len(after.text), Msg: "the amount has no unit", Fix: which}
	default:
		return 0, nil, fail(w, which, "%s is not a unit", quote(w.text))
	}
	if n > 1 && (len(words) < n || words[n-1].oneOf("tokens", "token") < 0) {
		return 0, nil, fail(words[0], "write `"+u.String()+"`", "%s is not a unit by itself", quote(words[0].text))
	}
	return u, words[n:], nil
}
