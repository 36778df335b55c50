package limit

import "time"

// Error says what is wrong with a sentence, where, and what to write instead.
type Error struct {
	Offset, Length int    // the part at fault, in bytes of the sentence given to Parse
	Msg            string // what is wrong
	Fix            string // what to do about it
}

// Error implements error: the message, then the fix.
func (e *Error) Error() string { return e.Msg + ": " + e.Fix }

// Parse reads one sentence. Dates are taken in zone (nil: UTC). The error is always an *Error.
func Parse(sentence string, zone *time.Location) (Limit, error) { return parse(sentence, zone) }

func parse(sentence string, zone *time.Location) (Limit, error) { return Limit{}, nil }
