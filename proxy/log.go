package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"syscall"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/proxy/upstream"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// finish writes the one line each request gets, and counts it. The line says who, what, how it ended and what it cost; it has no
// text of a prompt or an answer, and no key. Requests without a known key have it only so often: they are counted all the same.
func (s *Server) finish(rec *record, r *http.Request) {
	now := time.Now()
	s.metrics.finished(rec, now)
	s.recordRefusal(rec)
	log := s.options.Log
	if !log.Enabled(r.Context(), slog.LevelInfo) {
		return
	}
	var unlogged int64
	if rec.key == "" && rec.cause == nil {
		var ok bool
		if unlogged, ok = s.metrics.strangers.line(now); !ok {
			return
		}
	}
	var room [32]slog.Attr
	attrs := append(
		room[:0],
		slog.String("id", rec.idText()),
		slog.String("key", rec.key),
		slog.String("method", shorten(r.Method, 20)),
		slog.String("path", knownPath(r)),
		slog.Int("status", rec.status),
		slog.Int64("took_ms", now.Sub(rec.began).Milliseconds()),
	)
	if !rec.firstByte.IsZero() {
		attrs = append(attrs, slog.Int64("first_byte_ms", rec.firstByte.Sub(rec.began).Milliseconds()))
	}
	if unlogged > 0 {
		attrs = append(attrs, slog.Int64("unlogged", unlogged))
	}
	if rec.code != "" {
		attrs = append(attrs, slog.String("code", rec.code))
	}
	if retry := r.Header.Get("X-Stainless-Retry-Count"); retry != "" {
		attrs = append(attrs, slog.String("retry", shorten(retry, 4)))
	}
	if trace := r.Header.Get("Traceparent"); trace != "" {
		attrs = append(attrs, slog.String("traceparent", shorten(trace, 64)))
	}
	if x := rec.exchange; x != nil && x.route != nil {
		attrs = x.attrs(attrs)
	}
	level := slog.LevelInfo
	if rec.cause != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.String("error", rec.cause.Error()))
	}
	log.LogAttrs(r.Context(), level, "request", attrs...)
}

func (x *exchange) attrs(attrs []slog.Attr) []slog.Attr {
	attrs = append(
		attrs,
		slog.String("model", shorten(x.model, 100)),
		slog.String("upstream", x.route.upstream.Name),
		slog.Bool("stream", x.stream),
		slog.String("ending", x.outcome.ending),
		slog.String("basis", x.outcome.basis.String()),
		slog.Int64("estimated_input", x.estimate.Input),
		slog.Int64("reserved_tokens", x.reservedTokens()),
		slog.Int64("input_tokens", x.outcome.usage.Input),
		slog.Int64("output_tokens", x.outcome.usage.Output),
		slog.Int64("settled_tokens", addSaturating(x.outcome.usage.Input, x.outcome.usage.Output)),
		slog.String("cost", x.outcome.cost.String()),
	)
	if tier := x.outcome.usage.Tier; tier != cost.Unstated {
		attrs = append(attrs, slog.String("tier", tier.String()))
	}
	if x.rec.failovers > 0 {
		attrs = append(attrs, slog.Int("failovers", x.rec.failovers))
	}
	if x.upstreamID != "" {
		attrs = append(attrs, slog.String("upstream_request_id", x.upstreamID))
	}
	if x.refused != nil {
		attrs = append(attrs, slog.String("refused_by", x.refused.budget.String()), slog.Int64("wait_ms", x.refused.wait.Milliseconds()))
		if x.refused.figures != "" {
			attrs = append(attrs, slog.String("figures", x.refused.figures))
		}
	}
	if b := x.endedByBudget(); b != nil {
		attrs = append(attrs, slog.String("ended_by", b.String()))
	}
	if x.drawing != nil {
		attrs = append(attrs, slog.Int("draws", x.drawing.steps))
	}
	if x.cut != nil {
		attrs = append(attrs, slog.String("cut", reason(x.cut)))
	}
	return attrs
}

// reservedTokens is what the call held while it ran; a refused one held nothing.
func (x *exchange) reservedTokens() int64 {
	if x.held == nil {
		return 0
	}
	return x.boundTokens()
}

// knownPath is the route of a request, with {id} in place of an id. Whatever is no route of ours may hold anything, a key pasted into an
// address included.
func knownPath(r *http.Request) string {
	path := r.URL.Path
	switch pattern := chi.RouteContext(r.Context()).RoutePattern(); {
	case pattern != "":
		return pattern
	case path == "/v1/models", path == "/v1/usage", slices.Contains(wire.Endpoints(), wire.Endpoint(path)): // by a method that it does not take
		return path
	default:
		return "other"
	}
}

// reason says why a transfer broke off without repeating what the upstream sent: errors of net/http quote malformed headers.
func reason(err error) string {
	if known, ok := errors.AsType[*wire.Error](err); ok {
		return known.Code
	}
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number.Error()
	}
	switch {
	case errors.Is(err, errIdle):
		return errIdle.Error()
	case errors.Is(err, errTorn):
		return errTorn.Error()
	case errors.Is(err, context.Canceled):
		return "the client left"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the connection closed early"
	case upstream.IsTimeout(err):
		return "timeout"
	default:
		return fmt.Sprintf("the transfer failed (%T)", err)
	}
}
