package proxy

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy/upstream"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// ask sends a request to the upstream and returns its answer, which is a success. path is made of constants and of ids that were
// checked.
func (c *stored) ask(method, path string, query url.Values, body *heldBody) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(c.r.Context())
	resp, err := c.roundTrip(ctx, method, path, query, body)
	if err != nil {
		defer cancel(nil)
		return nil, c.failed(method, err)
	}
	c.undone = refusedFor(resp.StatusCode)
	resp.Body = newIdleBody(resp.Body, c.server.options.IdleTimeout, cancel)
	if isGzip(resp.Header) {
		unpacked(resp)
	}
	switch {
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		resp.Body.Close()
		c.server.metrics.upstreamRejected(c.upstream.Name)
		return nil, badGateway(http.StatusBadGateway, codeOurKey, "The upstream did not accept this proxy's own key. This is not "+
			"the fault of your key: the operator of this proxy must check the key of upstream "+c.upstream.Name+".")
	case resp.StatusCode >= 400:
		text, err := readError(resp, c.upstream.Upstream)
		if err != nil {
			return nil, err
		}
		resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(string(text))), int64(len(text))
		resp.Header.Del("Content-Length")
	case resp.StatusCode >= 300 || resp.StatusCode < 200:
		resp.Body.Close()
		return nil, badGateway(http.StatusBadGateway, codeRedirected, "The upstream answered with a redirect, which is not followed. "+
			"The operator of this proxy must check the url of upstream "+c.upstream.Name+".")
	}
	return resp, nil
}

func (c *stored) roundTrip(ctx context.Context, method, path string, query url.Values, body *heldBody) (*http.Response, error) {
	address := c.upstream.Endpoint(path)
	if len(query) > 0 {
		address.RawQuery = query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, address.String(), nil)
	if err != nil {
		return nil, err
	}
	media := ""
	if body != nil {
		media = cmp.Or(c.media, "application/json")
		r.Body, r.ContentLength = body.reader(), body.len()
		r.GetBody = func() (io.ReadCloser, error) { return body.reader(), nil }
	}
	r.Header = c.upstream.Header(c.r.Header, media)
	return c.upstream.RoundTrip(r)
}

// failed says why there is no answer to a request. Addresses and causes stay here.
func (c *stored) failed(method string, err error) error {
	unanswered, ok := errors.AsType[*upstream.Error](err)
	written := ok && unanswered.Written
	c.undone = ok && !written
	done := ""
	if written && method == http.MethodPost { // nobody knows the id of what was made
		done = " What was asked for may have been done all the same; an object that was made so is nobody's, and cannot be used."
	}
	switch {
	case errors.Is(err, context.Canceled) && c.r.Context().Err() != nil:
		return context.Canceled
	case upstream.IsTimeout(err) && written:
		return badGateway(http.StatusGatewayTimeout, "upstream_timeout", "The upstream "+c.upstream.Name+" did not answer in time."+done)
	case written:
		return badGateway(http.StatusBadGateway, "upstream_failed", "The connection to upstream "+c.upstream.Name+" broke before its answer was complete."+done)
	default:
		return badGateway(http.StatusBadGateway, "upstream_unreachable", "The upstream "+c.upstream.Name+" cannot be reached.")
	}
}

// relay passes an answer on. made, unless it is nil, is shown what goes by; when the answer is whole and a success, then
// records what has become of it, which is durable before the last bytes leave.
func (c *stored) relay(resp *http.Response, made *wire.Made, then func() ledger.Ticket) error {
	defer resp.Body.Close()
	keepReturned(resp.Header, c.upstream.Upstream, time.Now())
	if !c.raw && resp.StatusCode < 300 {
		if err := c.screen(resp); err != nil {
			return err
		}
	}
	maps.Copy(c.w.Header(), resp.Header)
	if c.w.Header().Get(headRequestID) == "" {
		c.w.Header().Set(headRequestID, c.exchange.id.String())
	}
	// What was read last waits until it is known whether it is the last.
	var buffers [2][16 << 10]byte
	var waiting []byte
	began := false
	write := func(p []byte) error {
		if !began {
			c.w.WriteHeader(resp.StatusCode)
			began = true
		}
		_, err := c.w.Write(p)
		return err
	}
	for i := 0; ; i = 1 - i {
		n, err := resp.Body.Read(buffers[i][:])
		if made != nil {
			_, _ = made.Write(buffers[i][:n]) // it never fails
		}
		if n > 0 && waiting != nil {
			if err := write(waiting); err != nil {
				panic(http.ErrAbortHandler) // the client is gone
			}
		}
		if n > 0 {
			waiting = buffers[i][:n]
		} else {
			i = 1 - i // what waits stays in its buffer
		}
		switch {
		case errors.Is(err, io.EOF):
			if then != nil && resp.StatusCode < 300 {
				if err := then().Stored(c.r.Context()); err != nil {
					if began {
						panic(http.ErrAbortHandler)
					}
					c.w.Header().Del("Content-Length")
					return ledgerUnavailable("so the answer to this one cannot be passed on.")
				}
			}
			if err := write(waiting); err != nil {
				panic(http.ErrAbortHandler)
			}
			return nil
		case err != nil && !began:
			c.w.Header().Del("Content-Length")
			return c.broken()
		case err != nil:
			panic(http.ErrAbortHandler) // the client must see that the answer is not whole
		}
	}
}

// screen takes out of an answer what must not be shown, if it carries an error. A short one is read whole.
func (c *stored) screen(resp *http.Response) error {
	answer := wire.NewAnswer(resp.Body, wire.AnswerOptions{Object: !isCoded(resp.Header)})
	if resp.ContentLength < 0 || resp.ContentLength > readAhead {
		resp.Header.Del("Content-Length") // it counts what may be taken out
		resp.Body = screen(answer, c.upstream.Upstream)
		return nil
	}
	whole, err := readScreened(resp, answer, c.upstream.Upstream)
	if err != nil {
		return c.broken()
	}
	resp.Body = newWholeBody(whole)
	return nil
}

func (c *stored) broken() error {
	return badGateway(http.StatusBadGateway, "upstream_failed", "The connection to upstream "+c.upstream.Name+" broke before its answer was complete.")
}
