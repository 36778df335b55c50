package upstream

import (
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// secure speaks to servers over TLS, where HTTP/2 carries many calls on one connection, and to those behind an HTTP proxy:
// net/http's Transport knows all of that.
type secure struct{ *http.Transport }

func newSecure(o *Options) (secure, error) {
	tlsConfig, err := trust(o.CAFile)
	if err != nil {
		return secure{}, err
	}
	return secure{&http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           o.Dial,
		TLSClientConfig:       tlsConfig,
		TLSHandshakeTimeout:   10 * time.Second,
		ForceAttemptHTTP2:     true,
		ResponseHeaderTimeout: o.HeaderTimeout,
		ExpectContinueTimeout: time.Second,
		// The default of two idle connections a host would open and close one for nearly every call of a busy team.
		MaxIdleConns:           mostIdle,
		MaxIdleConnsPerHost:    mostIdle,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: mostHeader,
		// Otherwise the transport would ask for gzip and the meter could still read it, but bytes out would no
		// longer be bytes in.
		DisableCompression: true,
		// A connection over HTTP/2 that died would hold up every call on it.
		HTTP2:           &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
		WriteBufferSize: 8 << 10,
		ReadBufferSize:  readSize,
	}}, nil
}

func (s secure) roundTrip(r *http.Request) (*http.Response, error) {
	var written atomic.Bool // the transport writes it from its own goroutine
	resp, err := s.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				written.Store(true)
			}
		},
	})))
	if err != nil {
		return nil, &Error{Err: err, Hung: written.Load() && IsTimeout(err) && r.Context().Err() == nil, Written: written.Load()}
	}
	return resp, nil
}

func (s secure) closeIdle() { s.CloseIdleConnections() }
