package upstream

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// accounts are how OpenAI's names of organisations and projects begin. They are those of an account that its callers share, and not
// theirs. So many letters, digits, dashes and underscores follow at least.
var accounts = [...]string{"org-", "proj_"}

const shortestAccount = 6

// finder finds what must not be shown: secrets, and the names of accounts. It finds them however they are written in JSON, and in JSON
// that stands in a string of JSON: some servers escape slashes, some all that is not a letter.
type finder struct {
	sought []sought
	first  [256]bool // with which bytes something of it may begin
}

// sought is something to be found. Backslashes in it and between its characters do not count, as escapes put them there.
type sought struct {
	keySearch
	account bool
}

// newFinder makes a finder of secrets, and of accounts.
func newFinder(secrets []string) *finder {
	f := &finder{}
	add := func(text string, account bool) {
		if text = strings.ReplaceAll(text, `\`, ""); text != "" {
			f.sought = append(f.sought, sought{newKeySearch(text), account})
			f.first[text[0]] = true
		}
	}
	longest := slices.SortedFunc(slices.Values(secrets), func(a, b string) int { return len(b) - len(a) }) // one may begin another
	for _, secret := range longest {
		add(secret, false)
	}
	for _, begin := range accounts {
		add(begin, true)
	}
	f.first['\\'] = true
	return f
}

// at is where something stands in b that is sought; the length of b, if nothing does.
func (f *finder) at(b []byte) int {
	end := len(b)
	for i := range f.sought {
		if at := f.sought[i].index(b[:end]); at >= 0 {
			end = at
		}
	}
	escape := bytes.IndexByte(b[:end], '\\')
	if escape < 0 {
		return end
	}
	for i, c := range b[:end] {
		if !f.first[c] {
			continue
		}
		for k := range f.sought {
			if (c == '\\' || c == f.sought[k].key[0]) && match(b[i:], f.sought[k].key) > 0 {
				return i
			}
		}
	}
	return end
}

// redact returns text with what is sought taken out; the same, if there is nothing.
func (f *finder) redact(text []byte) []byte {
	var out []byte
	done := 0
	for i := f.at(text); i < len(text); i++ {
		if !f.first[text[i]] {
			continue
		}
		if end, instead := f.whole(text, i); end > 0 {
			out = append(append(out, text[done:i]...), instead...)
			i, done = end-1, end
		}
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}

// whole is where the first of what is sought ends that stands at i, and what is to stand there instead; 0: none does.
func (f *finder) whole(text []byte, i int) (end int, instead string) {
	for k := range f.sought {
		s := &f.sought[k]
		n := match(text[i:], s.key)
		if n <= 0 {
			continue
		}
		end = i + n
		if !s.account {
			return end, "[key]"
		}
		if i > 0 && inName(text[i-1]) && text[i-1] != '-' && (i == 1 || text[i-2] != '\\') { // in the middle of a word, and not behind an escape
			continue
		}
		length := 0
		for {
			char, n := unescaped(text[end:])
			if n <= 0 || len(char) != 1 || !inName(char[0]) || text[end] == '\\' && !inCode(text[end:], n) { // \n is no n
				break
			}
			end += n
			length++
		}
		if length >= shortestAccount {
			return end, string(s.key) + "…"
		}
	}
	return 0, ""
}

func inName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// match is the length of what stands for want at the beginning of b; 0: something else does; -1: b ends before it is clear.
func match(b, want []byte) int {
	at := 0
	for len(want) > 0 {
		char, n := unescaped(b[at:])
		switch {
		case n <= 0:
			return -1
		case at == 0 && b[0] == '\\' && !inCode(b, n) && char[0] != '"' && char[0] != '/':
			return 0 // the backslash is another character's
		case len(char) == 1 && char[0] == '\\' && at > 0:
		case !bytes.HasPrefix(want, char):
			return 0
		default:
			want = want[len(char):]
		}
		at += n
	}
	return at
}

// inCode reports whether the first n bytes of b, which stand for a character, are its code.
func inCode(b []byte, n int) bool { return n >= 6 && b[n-5] == 'u' }

// mostEscapes is how many backslashes may stand before a character: JSON in strings of JSON, five times over, has 31. What a model says may
// have any number, and each is where something may begin.
const mostEscapes = 32

// unescaped is the first character of b, or a byte of it, and the length of what stands for it; -1, if b ends before that does.
func unescaped(b []byte) (char []byte, n int) {
	for n < len(b) && b[n] == '\\' {
		if n++; n > mostEscapes {
			return b[:1], 1
		}
	}
	if n == len(b) {
		return nil, -1
	}
	if n == 0 || b[n] != 'u' {
		return b[n : n+1], n + 1
	}
	digits := b[n+1 : min(n+5, len(b))]
	code, err := strconv.ParseUint(string(digits), 16, 32)
	switch {
	case len(digits) < 4 && (err == nil || len(digits) == 0):
		return nil, -1
	case err != nil || len(digits) < 4:
		return b[n : n+1], n + 1
	default:
		return []byte(string(rune(code))), n + 5
	}
}
