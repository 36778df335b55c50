package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"os"
	"sync/atomic"
	"time"
)

// secure speaks to servers over TLS, where HTTP/2 carries many calls on one connection, and to those behind an HTTP proxy:
// net/http's Transport knows all of that.
type secure struct {
	*http.Transport
	patience time.Duration // for an answer's headers
}

const (
	// streamWindow is how much of an answer over HTTP/2 is held for a client that does not read it. A stream gets no faster than that in
	// each round trip: 6 MB/s where one takes 20 ms.
	streamWindow = 128 << 10

	// connWindow is the same for all streams of a connection together. It is not what bounds memory: the streams' windows do. What nobody
	// reads counts here as well, so if it were less than the windows of all streams, those that nobody reads would hold up all others. How
	// many there can be is the server's to say: a hundred or 250 with most, as many as we like with some, and all calls then share one
	// connection. This is enough for 8,192 that nobody reads, all at one time.
	connWindow = 8192 * streamWindow
)

// errPatience ends a call that was not answered in time. A Transport's own timeout would not do: it begins when the request is written,
// and whoever does not read it is never asked for an answer.
var errPatience = fmt.Errorf("the upstream's answer did not begin: %w", os.ErrDeadlineExceeded)

func newSecure(o *Options) (secure, error) {
	tlsConfig, err := trust(o.CAFile)
	if err != nil {
		return secure{}, err
	}
	return secure{patience: o.HeaderTimeout, Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           o.Dial,
		TLSClientConfig:       tlsConfig,
		TLSHandshakeTimeout:   10 * time.Second,
		ForceAttemptHTTP2:     true,
		ExpectContinueTimeout: time.Second,
		// The default of two idle connections a host would open and close one for nearly every call of a busy team.
		MaxIdleConns:           mostIdle,
		MaxIdleConnsPerHost:    mostIdle,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: mostHeader,
		// Otherwise the transport would ask for gzip and the meter could still read it, but bytes out would no
		// longer be bytes in.
		DisableCompression: true,
		HTTP2: &http.HTTP2Config{
			// A connection that died would hold up every call on it.
			SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second,
			MaxReceiveBufferPerStream: streamWindow, MaxReceiveBufferPerConnection: connWindow,
		},
		WriteBufferSize: 8 << 10,
		ReadBufferSize:  readSize,
	}}, nil
}

func (s secure) roundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	var began atomic.Pointer[time.Timer] // when there was a connection, as without TLS
	var interim atomic.Int32
	var failed atomic.Bool // the transport writes it from its own goroutine
	var body handed
	out := r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) {
			if began.Load() == nil {
				began.Store(time.AfterFunc(s.patience, func() { cancel(errPatience) }))
			}
		},
		Got1xxResponse: func(int, textproto.MIMEHeader) error {
			if interim.Add(1) >= most1xx { // a Transport bounds their bytes alone, and only where nobody looks at them
				return errInterim
			}
			return nil
		},
		WroteRequest: func(info httptrace.WroteRequestInfo) { failed.Store(info.Err != nil) },
	}))
	body.of(out)
	resp, err := s.RoundTrip(out)
	if timer := began.Load(); timer != nil && !timer.Stop() && err == nil { // nothing more could be read of it
		resp.Body.Close()
		err = errPatience
	}
	if err != nil {
		left := false
		if cause := context.Cause(ctx); cause != nil {
			err, left = cause, true
		}
		cancel(nil)
		if began.Load() == nil { // there was no connection
			return nil, &Error{Err: err}
		}
		return nil, broken(r, err, body.whole() && (left || !failed.Load()))
	}
	if resp.ProtoMajor == 1 && resp.ContentLength < 0 {
		resp.Body = &openEnded{resp.Body, r.Context()}
	}
	return resp, nil
}

// openEnded is an answer over HTTP/1.1 whose length nobody has said. When its call is cancelled, TLS tells the server so before the
// connection is closed, and what it then writes in between may be a proper end: that is no end.
type openEnded struct {
	io.ReadCloser
	ctx context.Context
}

func (o *openEnded) Read(p []byte) (int, error) {
	n, err := o.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) && o.ctx.Err() != nil {
		err = context.Cause(o.ctx)
	}
	return n, err
}

func (s secure) closeIdle() { s.CloseIdleConnections() }
