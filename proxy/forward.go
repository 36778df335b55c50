package proxy

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tokenfare/tokenfare/proxy/upstream"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// errIdle ends an answer whose upstream fell silent.
var errIdle = errors.New("the upstream sent nothing for longer than the idle timeout")

// sentState is how far a request got. The transport writes it from its own goroutine.
type sentState struct {
	begun   bool // it was handed to the relay; belongs to the serving goroutine
	written atomic.Bool
}

type exchangeKey struct{}

// forward sends the call upstream and relays the answer. An error is for the client; a relay that breaks off after the answer
// began panics with http.ErrAbortHandler, which breaks the client's transfer as the upstream's was broken.
func (s *Server) forward(x *exchange, w http.ResponseWriter, r *http.Request) error {
	x.sent.begun = true
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	x.cancel = cancel
	x.takesGzip = takesGzip(r.Header)
	ctx = context.WithValue(ctx, exchangeKey{}, x)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				x.sent.written.Store(true)
			}
		},
	})
	// A fresh header, so that nothing of the client's travels on by accident: no key, no cookie, no upgrade.
	out := r.WithContext(ctx)
	out.Header = pick(r.Header, forwarded)
	out.Body, out.ContentLength, out.TransferEncoding = http.NoBody, 0, nil
	s.relay.ServeHTTP(w, out)
	return x.failure
}

// newRelay makes the one reverse proxy all calls go through.
func (s *Server) newRelay() *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite:        rewrite,
		Transport:      roundTrip{},
		ModifyResponse: func(resp *http.Response) error { return exchangeOf(resp.Request).receive(resp) },
		ErrorHandler: func(_ http.ResponseWriter, r *http.Request, err error) {
			x := exchangeOf(r)
			x.failure = x.upstreamFailed(err)
		},
		BufferPool: &copyBuffers{},
		ErrorLog:   slog.NewLogLogger(slog.DiscardHandler, 0), // what it would say is in the exchange's own log line
	}
}

func exchangeOf(r *http.Request) *exchange { return r.Context().Value(exchangeKey{}).(*exchange) }

// roundTrip sends each request to the upstream its exchange chose.
type roundTrip struct{}

func (roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := exchangeOf(r).route.upstream.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	// The transport writes trailers into the response it made, at the end of the body. They stay there: this copy has none.
	answer := *resp
	answer.Trailer = nil
	return &answer, nil
}

// rewrite addresses the request: a constant path on the upstream, its own key, the body we read.
func rewrite(p *httputil.ProxyRequest) {
	x := exchangeOf(p.In)
	p.Out.URL = x.route.upstream.Endpoint(strings.TrimPrefix(string(x.endpoint), "/v1"))
	p.Out.Host = ""
	p.Out.Header.Set("Content-Type", x.media)
	p.Out.Header.Set("Accept", "*/*")
	p.Out.Header.Set("Accept-Encoding", "identity") // the meter must be able to read the answer
	p.Out.Header.Set("User-Agent", "tokenfare")
	x.route.upstream.Authorize(p.Out.Header)
	// The incoming body would not do: the server closes it when the answer starts, while the transport still looks for its
	// end, and streams would be cut short under load.
	p.Out.ContentLength = x.body.len()
	p.Out.Body = x.body.reader()
	p.Out.GetBody = func() (io.ReadCloser, error) { return x.body.reader(), nil }
}

// upstreamFailed says in OpenAI's shape why there is no answer. Addresses and causes stay in the log.
func (x *exchange) upstreamFailed(err error) error {
	x.cut = err
	var known *wire.Error
	name := x.route.upstream.Name
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, errIdle):
		return badGateway(http.StatusGatewayTimeout, "upstream_timeout", "The upstream "+name+" fell silent in the middle of its answer.")
	case errors.Is(err, context.Canceled):
		return err // the client is gone
	case upstream.IsTimeout(err) && x.sent.written.Load():
		return badGateway(http.StatusGatewayTimeout, "upstream_timeout", "The upstream "+name+" did not answer in time.")
	case x.sent.written.Load():
		return badGateway(http.StatusBadGateway, "upstream_failed", "The connection to upstream "+name+" broke before its answer was complete.")
	default:
		return badGateway(http.StatusBadGateway, "upstream_unreachable", "The upstream "+name+" cannot be reached; nothing was charged.")
	}
}

func badGateway(status int, code, message string) *wire.Error {
	return &wire.Error{Status: status, Type: "server_error", Code: code, Message: message}
}

// idleBody ends an answer whose upstream sends nothing for too long. Any byte counts as life, keep-alive comments included.
type idleBody struct {
	io.ReadCloser
	limit  time.Duration
	cancel context.CancelCauseFunc
	timer  *time.Timer
	fired  atomic.Bool
}

func (b *idleBody) Read(p []byte) (int, error) {
	if b.timer == nil {
		b.timer = time.AfterFunc(b.limit, func() {
			b.fired.Store(true)
			b.cancel(errIdle)
		})
	} else {
		b.timer.Reset(b.limit)
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.timer.Stop()
		if b.fired.Load() {
			err = errIdle
		}
	}
	return n, err
}

// pause lets the upstream be silent until it is read again.
func (b *idleBody) pause() {
	if b.timer != nil {
		b.timer.Stop()
	}
}

func (b *idleBody) Close() error {
	if b.timer != nil {
		b.timer.Stop()
	}
	return b.ReadCloser.Close()
}

// copyBuffers lends the relay small buffers: answers arrive in small pieces, and many wait at once.
type copyBuffers struct{ pool sync.Pool }

func (c *copyBuffers) Get() []byte {
	if b, ok := c.pool.Get().(*[]byte); ok {
		return *b
	}
	return make([]byte, 8<<10)
}

func (c *copyBuffers) Put(b []byte) { c.pool.Put(&b) }
