package httplimit

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"
)

// costOf asks for the cost of a request. What cannot be priced is an error, never free.
func costOf(cost func(*http.Request) int64, r *http.Request) (n int64, err error) {
	if cost == nil {
		return 1, nil
	}
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case error:
			if errors.Is(cause, http.ErrAbortHandler) {
				panic(cause) // it asks for the connection to be cut, as any handler may
			}
			if broken, ok := errors.AsType[runtime.Error](cause); ok {
				err = fmt.Errorf("Options.Cost panicked: %w", broken)
				return
			}
			err = fmt.Errorf("Options.Cost panicked with a %T", cause)
		default:
			err = fmt.Errorf("Options.Cost panicked with a %T", cause) // its text may be part of the request
		}
	}()
	if n = cost(r); n < 0 {
		return 0, fmt.Errorf("Options.Cost returned %d, must be at least 0", n)
	}
	return n, nil
}
