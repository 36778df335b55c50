package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

// statusClientGone is what is logged when nobody is there to read an answer; nginx's number for it.
const statusClientGone = 499

// What no retry helps against, until the operator has changed something.
const (
	codeOurKey     = "upstream_unauthorized" // an upstream refused this proxy's own key
	codeRedirected = "upstream_redirected"   // the url of an upstream leads elsewhere
)

// handler is a handler that may end with an error instead of an answer.
type handler func(w http.ResponseWriter, r *http.Request) error

// handle turns a handler's error into an answer in OpenAI's shape. It is the only place that writes errors.
func (s *Server) handle(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			s.writeError(w, r, err)
		}
	})
}

func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	rec := recordOf(r)
	var refused *refusal
	var known *wire.Error
	switch {
	case errors.As(err, &refused):
		known = &refused.answer
		refused.write(w.Header())
	case errors.As(err, &known):
	case errors.Is(err, errGone), errors.Is(err, context.Canceled) && r.Context().Err() != nil:
		rec.status = statusClientGone
		panic(http.ErrAbortHandler) // returning would send an empty 200 to a client that closed only its own side
	default:
		rec.cause = err
		known = &wire.Error{
			Status: http.StatusInternalServerError, Type: "server_error", Code: "internal_error",
			Message: fmt.Sprintf("This proxy failed to handle the request; its log has the cause under request id %s.", rec.id),
		}
	}
	if rec.exchange != nil {
		rec.exchange.writeBudgets(r.Context(), w.Header())
	}
	rec.code = known.Code
	h := w.Header()
	if known.Code == codeOurKey || known.Code == codeRedirected {
		h.Set(headShouldRetry, "false")
	}
	if r.ProtoMajor == 1 && r.ContentLength != 0 && (rec.exchange == nil || rec.exchange.body == nil) {
		// Or the server would wait for a body that nobody wants to read, for as long as its sender likes.
		h.Set("Connection", "close")
	}
	h[headContentType] = applicationJSON
	h[headRequestID] = []string{rec.idText()}
	w.WriteHeader(known.Status)
	w.Write(known.JSON()) //nolint:errcheck // a client that does not read its error has left
}

// applicationJSON is shared: nobody changes it.
var applicationJSON = []string{"application/json"}

func wrongMethod(_ http.ResponseWriter, r *http.Request) error {
	if asksForWebSocket(r) {
		return invalidURL(r, codeUnserved, "A WebSocket cannot be metered call by call: use POST "+shorten(r.URL.EscapedPath(), 200)+" with stream: true.")
	}
	return &wire.Error{
		Status: http.StatusMethodNotAllowed, Type: "invalid_request_error",
		Message: fmt.Sprintf("Not allowed to %s on %s.", shorten(r.Method, 20), shorten(r.URL.EscapedPath(), 200)),
	}
}

func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}

// sizeText writes a number of bytes as a configuration file would.
func sizeText(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}

// roundUpZero is roundUp for spans that may be over.
func roundUpZero(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return roundUp(d)
}
