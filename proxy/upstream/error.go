package upstream

import (
	"errors"
	"net/http"
	"os"
	"syscall"
)

// Error is why there is no answer.
type Error struct {
	Err     error // may hold an address, or what the upstream sent: it is not for clients
	Hung    bool  // it was waited for as long as an answer's headers may take
	Written bool  // the upstream may have all of the request; if not, it cannot have acted on it
	Unread  bool  // the connection broke under a long request that was not read whole: servers do so with what is too long for them
}

// broken says what has become of a request on a connection that broke. A connection is reset by who closes it without having read all
// that there was to read, also where all of the request had left.
func broken(r *http.Request, err error, written bool) *Error {
	hung := errors.Is(err, os.ErrDeadlineExceeded)
	unread := !hung && r.ContentLength > atOnce && (!written || errors.Is(err, syscall.ECONNRESET))
	return &Error{Err: err, Hung: hung, Written: written, Unread: unread}
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
