package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/proxy/upstream"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// readAhead is the largest plain answer that is read whole before it is passed on, so that its headers can tell its cost.
const readAhead = 256 << 10

// receive looks at the upstream's answer before any of it is passed on.
func (x *exchange) receive(ctx context.Context, resp *http.Response) error {
	x.status = resp.StatusCode
	if x.request == nil || !untaken(resp.StatusCode) {
		x.request = nil
		x.body.release()
	}
	x.idle = newIdleBody(resp.Body, x.server.options.IdleTimeout, x.cancel)
	resp.Body = x.idle
	keepReturned(resp.Header, x.route.upstream.Upstream, time.Now())
	if x.upstreamID = plainID(resp.Header.Get(headRequestID)); x.upstreamID == "" && resp.Header.Get(headRequestID) == "" {
		resp.Header[headRequestID] = []string{x.rec.idText()}
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
		if resp.StatusCode == http.StatusPaymentRequired {
			x.server.metrics.upstreamRejected(x.route.upstream.Name)
		}
		return x.passError(resp)
	case resp.StatusCode >= 300:
		return badGateway(http.StatusBadGateway, codeRedirected, "The upstream answered with a redirect, which is not followed. "+
			"The operator of this proxy must check the url of upstream "+x.route.upstream.Name+".")
	}
	how := framing(x.endpoint, resp.Header)
	sse := how.Stream
	x.unreadable = x.stream && !sse // text that is not framed as it should be cannot be told from its frame
	how.Withhold = sse && x.withhold
	x.unpack(resp)
	how.Object = !isCoded(resp.Header) && makesObjects(x.endpoint)
	how.Count = x.count
	if sse && x.drawing != nil && !x.unreadable {
		how.Most = x.facts.Ratio.Of
		how.Cover = func(wait bool) (bool, error) { return x.cover(ctx, wait) }
		x.drawing.covers, x.drawing.durable = true, x.estimate.MaxOutput
	}
	if sse && !x.unreadable {
		how.Redact = x.route.upstream.Redact
	}
	x.answer = wire.NewAnswer(x.notice(resp.Body, sse), how)
	if sse {
		resp.Header.Del("Content-Length") // it does not count what is withheld, redacted, or written by us
		resp.ContentLength = -1
	}
	if !sse && resp.ContentLength >= 0 && resp.ContentLength <= readAhead {
		return x.settleAhead(ctx, resp)
	}
	if err := x.recorded(ctx); err != nil {
		return err
	}
	whole := lastWord{x.answer, x}
	if sse || how.Text || how.Bytes {
		resp.Body = whole
		return nil
	}
	resp.Header.Del("Content-Length") // it counts what may be taken out
	resp.Body = screen(whole, x.route.upstream.Upstream)
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
func (x *exchange) settleAhead(ctx context.Context, resp *http.Response) error {
	whole, err := readScreened(resp, x.answer, x.route.upstream.Upstream)
	if err != nil {
		return err
	}
	resp.Body = newWholeBody(whole)
	x.end(endedAnswer)
	if err := x.recorded(ctx); err != nil {
		return err // the upstream has done its work: that is charged
	}
	x.fresh = false // what is left has changed
	return nil
}

// wholeBody is an answer that is all here.
type wholeBody struct{ bytes.Reader }

func newWholeBody(b []byte) *wholeBody {
	w := &wholeBody{}
	w.Reset(b)
	return w
}

// Close has nothing to close.
func (*wholeBody) Close() error { return nil }

// readWhole reads an answer that says how long it is. What is in it may be shorter, where something of it is withheld.
func readWhole(r io.Reader, length int64) ([]byte, error) {
	whole := make([]byte, 0, length+1) // one more, so that the read that finds the end needs no growth
	for {
		whole = slices.Grow(whole, 1)
		n, err := r.Read(whole[len(whole):cap(whole)])
		whole = whole[:len(whole)+n]
		switch {
		case err == io.EOF:
			return whole, nil
		case err != nil:
			return whole, err
		}
	}
}

// passError relays an upstream's error answer with the upstream's key taken out of its text.
func (x *exchange) passError(resp *http.Response) error {
	if untaken(resp.StatusCode) { // another upstream can be asked, or the client told that there is no room
		late := time.AfterFunc(errorPatience, func() { x.cancel(errIdle) })
		defer late.Stop()
	}
	if isGzip(resp.Header) {
		unpacked(resp)
	}
	body, err := readError(resp, x.route.upstream.Upstream)
	if err != nil {
		return err
	}
	x.oversized = resp.StatusCode == http.StatusTooManyRequests && wire.Oversized(body)
	resp.Body = newWholeBody(body)
	resp.ContentLength = int64(len(body))
	resp.Header.Del("Content-Length")
	x.end(endedAnswer)
	x.fresh = false // what is left has changed
	return nil
}

// readError reads an upstream's error answer as it is to be passed on. One that says that there is no room, or no credit, is about the account
// that all callers share, which the client must be told.
func readError(resp *http.Response, u *upstream.Upstream) ([]byte, error) {
	body, err := readShaped(resp, u)
	if err == nil && (resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusPaymentRequired) {
		body = wire.Preface(body, "The provider's account behind this proxy (upstream "+u.Name+") is short, not the budget of your key. The provider says: ")
	}
	return body, err
}

// readShaped reads an upstream's error answer, takes out what must not be shown, and gives it OpenAI's shape.
func readShaped(resp *http.Response, u *upstream.Upstream) ([]byte, error) {
	const most = 1 << 20
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	resp.Body.Close()
	unread := err != nil || len(body) > most
	if unread && !untaken(resp.StatusCode) {
		return nil, badGateway(http.StatusBadGateway, "upstream_failed", "The upstream answered with an error that could not be read.")
	}
	if unread {
		body = nil // its status, and when to come back, say more than our own 502 would
	}
	body = u.Redact(body)
	var shaped *wire.Error // SDKs know what to do with an error object only
	if !json.Valid(body) {
		shaped = wire.TextError(resp.StatusCode, "The upstream "+u.Name+" answered "+
			strings.TrimSpace(strconv.Itoa(resp.StatusCode)+" "+http.StatusText(resp.StatusCode)), body, u.Redact)
	} else {
		shaped = wire.ForeignError(resp.StatusCode, body)
	}
	if shaped == nil {
		return wire.WholeError(resp.StatusCode, body), nil
	}
	resp.Header.Set("Content-Type", "application/json")
	resp.Header.Del("Content-Encoding")
	return shaped.JSON(), nil
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
	media, err := h.Get("Content-Type"), error(nil)
	if media != "application/json" && media != "text/event-stream" {
		media, _, err = mime.ParseMediaType(media)
	}
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
