package limit

import (
	"fmt"
	"unicode/utf8"
)

// Error says what is wrong with a sentence, where, and what to write instead.
type Error struct {
	Offset, Length int    // the part at fault, in bytes of the sentence given to Parse; within it, Length may be 0
	Msg            string // what is wrong
	Fix            string // what to do about it; never empty

	settled bool // the fix is as good as it gets
}

// Error implements error: the message, then the fix.
func (e *Error) Error() string { return e.Msg + ": " + e.Fix }

const examples = "limits look like `200k tokens per minute`, `60 requests in any minute` or `$50 each month`"

// fail builds an Error about a word.
func fail(w word, fix, format string, args ...any) *Error {
	return &Error{Offset: w.off, Length: len(w.text), Msg: fmt.Sprintf(format, args...), Fix: fix}
}

// quote shortens what a person wrote to what fits a message.
func quote(s string) string {
	const most = 40
	if len(s) <= most {
		return `"` + s + `"`
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return `"` + s[:cut] + `…"`
}
