package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/proxy/upstream"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// errIdle ends an answer whose upstream fell silent.
var errIdle = errors.New("the upstream sent nothing for longer than the idle timeout")

// errGone says that the client has left.
var errGone = errors.New("the client is gone")

// forward sends the call upstream and relays the answer. An error is for the client; a relay that breaks off after the answer
// began panics with http.ErrAbortHandler, which breaks the client's transfer as the upstream's was broken.
func (s *Server) forward(x *exchange, w http.ResponseWriter, r *http.Request) error {
	if x.from = connectionOf(r); x.from != nil {
		defer x.from.Over()
	}
	defer func() {
		if x.cancel != nil { // of the last attempt
			x.cancel(nil)
		}
	}()
	var kept *failure
	for {
		resp, err := x.ask(r)
		if x.untaken(err) {
			if kept = kept.orBetter(x.failed(resp, err)); x.askAnother(r) {
				continue
			}
			resp, err = x.tellOf(kept.orBetter(x.short))
		}
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		x.relay(r.Context(), w, resp)
		return nil
	}
}

// ask sends the call to the upstream of this attempt, and returns its answer as it is to be passed on.
func (x *exchange) ask(r *http.Request) (*http.Response, error) {
	x.record(r)
	x.begun = true
	x.attempts++
	var ctx context.Context
	ctx, x.cancel = context.WithCancelCause(r.Context())
	if x.from != nil {
		x.from.During(x.cancel)
	}
	u := x.route.upstream
	u.Sending()
	sent := time.Now()
	resp, err := u.RoundTrip(x.outgoing(ctx, r.Header))
	switch {
	case err == nil:
		x.written = true
		full := resp.StatusCode == http.StatusTooManyRequests // its text tells for whom
		if !full {
			x.tell(resp.StatusCode, resp.Header)
		}
		if err = x.receive(ctx, resp); err != nil {
			resp.Body.Close()
		}
		if full {
			x.tell(resp.StatusCode, resp.Header)
		}
	case errors.Is(context.Cause(ctx), context.Canceled): // the client has left
		x.rests(u.Left(sent), 0)
	default:
		x.tellUnanswered(err)
	}
	if err != nil {
		return nil, x.upstreamFailed(err)
	}
	return resp, nil
}

// outgoing addresses the call: a constant path on the upstream, its own key, the body we read.
func (x *exchange) outgoing(ctx context.Context, from http.Header) *http.Request {
	// The incoming body would not do: the server closes it when the answer starts, while it is still being sent, and streams
	// would be cut short under load.
	out := (&http.Request{}).WithContext(ctx)
	out.Method, out.URL = http.MethodPost, x.route.upstream.Endpoint(strings.TrimPrefix(string(x.endpoint), "/v1"))
	out.Header = x.route.upstream.Header(from, x.media)
	out.Body, out.ContentLength = x.body.reader(), x.body.len()
	out.GetBody = func() (io.ReadCloser, error) { return x.body.reader(), nil }
	return out
}

// upstreamFailed says in OpenAI's shape why there is no answer. Addresses and causes stay in the log.
func (x *exchange) upstreamFailed(err error) error {
	x.cut = err
	if unanswered, ok := errors.AsType[*upstream.Error](err); ok {
		x.written = unanswered.Written
	}
	var known *wire.Error
	name := x.route.upstream.Name
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, errIdle):
		return badGateway(http.StatusGatewayTimeout, "upstream_timeout", "The upstream "+name+" fell silent in the middle of its answer.")
	case errors.Is(err, context.Canceled):
		return errGone
	case upstream.IsTimeout(err) && x.written:
		return badGateway(http.StatusGatewayTimeout, "upstream_timeout", "The upstream "+name+" did not answer in time.")
	case x.written:
		return badGateway(http.StatusBadGateway, "upstream_failed", "The connection to upstream "+name+" broke before its answer was complete.")
	default:
		return badGateway(http.StatusBadGateway, "upstream_unreachable", "The upstream "+name+" cannot be reached; nothing was charged.")
	}
}

func badGateway(status int, code, message string) *wire.Error {
	return &wire.Error{Status: status, Type: "server_error", Code: code, Message: message}
}
