package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tokenfare/tokenfare/proxy/upstream"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// errIdle ends an answer whose upstream fell silent.
var errIdle = errors.New("the upstream sent nothing for longer than the idle timeout")

// readAhead is the largest plain answer that is read whole before it is passed on, so that its headers can tell its cost.
const readAhead = 256 << 10

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
	p.Out.Header.Set("Content-Type", "application/json")
	if x.endpoint.TakesForm() {
		p.Out.Header.Set("Content-Type", x.media) // it names the boundary
	}
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

// receive looks at the upstream's answer before any of it is passed on.
func (x *exchange) receive(resp *http.Response) error {
	x.status = resp.StatusCode
	x.body.release()
	x.idle = &idleBody{ReadCloser: resp.Body, limit: x.server.options.IdleTimeout, cancel: x.cancel}
	resp.Body = x.idle
	header := resp.Header
	resp.Header = pick(header, returned)
	for name, values := range resp.Header {
		for _, v := range values {
			if string(x.route.upstream.Redact([]byte(v))) != v {
				resp.Header.Del(name) // a provider that puts our key into a header
			}
		}
	}
	x.upstreamID = plainID(resp.Header.Get("X-Request-Id"))
	if resp.Header.Get("X-Request-Id") == "" {
		resp.Header.Set("X-Request-Id", x.id.String())
	}
	switch {
	case resp.StatusCode < 200:
		x.status = 0 // no status of HTTP's
		return badGateway(http.StatusBadGateway, "upstream_failed", "The upstream "+x.route.upstream.Name+" did not answer in HTTP.")
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		x.server.metrics.upstreamRejected(x.route.upstream.Name)
		return badGateway(http.StatusBadGateway, codeOurKey, "The upstream did not accept this proxy's own key. This is not "+
			"the fault of your key: the operator of this proxy must check the key of upstream "+x.route.upstream.Name+".")
	case resp.StatusCode >= 400:
		return x.passError(resp)
	case resp.StatusCode >= 300:
		return badGateway(http.StatusBadGateway, "upstream_redirected", "The upstream answered with a redirect, which is not followed. "+
			"The operator of this proxy must check the url of upstream "+x.route.upstream.Name+".")
	}
	how := framing(x.endpoint, header)
	sse := how.Stream
	x.unreadable = x.stream && !sse // text that is not framed as it should be cannot be told from its frame
	if encoding := header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		x.unreadable = true // compressed although we asked it not to: it passes, but nothing in it can be counted
	}
	how.Withhold = sse && x.withhold
	how.Count = func(text string) int64 { return x.server.options.Estimator.Count(x.facts, text) }
	if sse && x.drawing != nil && !x.unreadable {
		how.Most = x.facts.Ratio.Of
		how.Cover = func(wait bool) (bool, error) { return x.cover(resp.Request.Context(), wait) }
		x.drawing.covers, x.drawing.durable = true, x.estimate.MaxOutput
	}
	x.answer = wire.NewAnswer(x.notice(resp.Body, sse), how)
	if sse && (x.withhold || how.Cover != nil) {
		resp.Header.Del("Content-Length") // it does not count what is withheld, or written by us
		resp.ContentLength = -1
	}
	if !sse && resp.ContentLength >= 0 && resp.ContentLength <= readAhead {
		return x.settleAhead(resp)
	}
	if err := x.recorded(resp.Request.Context()); err != nil {
		return err
	}
	resp.Body = lastWord{x.answer, x}
	x.writeBudgets(resp.Request.Context(), resp.Header)
	return nil
}

// lastWord settles an exchange when its answer is complete, before the end of it is passed on. A client that has read it, and
// many read no further than [DONE], may call again at once: it must not find its own call among those that still run.
type lastWord struct {
	*wire.Answer
	exchange *exchange
}

func (l lastWord) Read(p []byte) (int, error) {
	n, err := l.Answer.Read(p)
	if l.Complete() {
		l.exchange.end(endedAnswer)
		if unrecorded := l.exchange.recorded(context.Background()); unrecorded != nil {
			return 0, unrecorded
		}
	}
	return n, err
}

// settleAhead reads a short plain answer whole and settles it, so that its headers carry what it cost and what is left after it.
func (x *exchange) settleAhead(resp *http.Response) error {
	whole, err := io.ReadAll(x.answer)
	x.answer.Close()
	if err != nil {
		return err
	}
	resp.Body = io.NopCloser(strings.NewReader(string(whole)))
	x.end(endedAnswer)
	if err := x.recorded(resp.Request.Context()); err != nil {
		return err // the upstream has done its work: that is charged
	}
	x.fresh = false // what is left has changed
	x.writeBudgets(resp.Request.Context(), resp.Header)
	if x.facts.Priced {
		resp.Header.Set("x-tokenfare-cost", x.outcome.cost.String())
	}
	return nil
}

// passError relays an upstream's error answer with the upstream's key taken out of its text.
func (x *exchange) passError(resp *http.Response) error {
	body, err := readError(resp, x.route.upstream.Upstream)
	if err != nil {
		return err
	}
	resp.Body = io.NopCloser(strings.NewReader(string(body)))
	resp.ContentLength = int64(len(body))
	resp.Header.Del("Content-Length")
	resp.TransferEncoding = nil
	x.end(endedAnswer)
	x.fresh = false // what is left has changed
	x.writeBudgets(resp.Request.Context(), resp.Header)
	return nil
}

// readError reads an upstream's error answer, and takes the upstream's key out of it.
func readError(resp *http.Response, u *upstream.Upstream) ([]byte, error) {
	const most = 1 << 20
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	resp.Body.Close()
	if err != nil || len(body) > most {
		return nil, badGateway(http.StatusBadGateway, "upstream_failed", "The upstream answered with an error that could not be read.")
	}
	body = u.Redact(body)
	if !json.Valid(body) { // an empty or HTML page of some middlebox; SDKs know what to do with an error object only
		body = badGateway(resp.StatusCode, "upstream_failed", "The upstream "+u.Name+" answered "+
			strconv.Itoa(resp.StatusCode)+" "+http.StatusText(resp.StatusCode)+", without saying why.").JSON()
		resp.Header.Set("Content-Type", "application/json")
		resp.Header.Del("Content-Encoding")
	}
	return body, nil
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

// plainID returns an upstream's request id if it may go into the log: letters, digits and signs that need no quoting.
func plainID(id string) string {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.:/", r)
	}
	if len(id) > 128 || strings.ContainsFunc(id, odd) {
		return ""
	}
	return id
}

// framing is how an answer is to be read. Sound, and text that is not JSON, come from endpoints that make such; from all others
// one JSON value is expected, whatever its type is said to be.
func framing(e wire.Endpoint, h http.Header) wire.AnswerOptions {
	o := wire.AnswerOptions{Endpoint: e}
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	switch {
	case err == nil && media == "text/event-stream":
		o.Stream = true
	case err == nil && (media == "application/json" || strings.HasSuffix(media, "+json")):
	case e == wire.Speech:
		o.Bytes = true
	case e == wire.Transcriptions || e == wire.Translations:
		o.Text = true
	}
	return o
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
