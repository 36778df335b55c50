package upstream

import "errors"

// Error is why there is no answer.
type Error struct {
	Err     error // may hold an address, or what the upstream sent: it is not for clients
	Hung    bool  // it was waited for as long as an answer's headers may take
	Written bool  // the upstream may have all of the request; if not, it cannot have acted on it
}

// Error says why, with addresses.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// IsTimeout reports whether err says that the upstream took too long.
func IsTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}
