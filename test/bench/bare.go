package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
)

// mostBody is the largest request the bare proxy reads.
const mostBody = 32 << 20

// serveBare is the floor: httputil.ReverseProxy in front of the upstream, and what it takes to be correct and no slower than it
// must be. The request is read before it is sent, because a relay that is handed the incoming body cuts streams short under load
// (the server closes it when the answer starts, while the transport still looks for its end).
func serveBare(l net.Listener, upstream string) error {
	to := &url.URL{Scheme: "http", Host: upstream}
	relay := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(to) },
		// Two idle connections to a host, the default, would open and close one for nearly every request.
		Transport: &http.Transport{MaxIdleConns: 1024, MaxIdleConnsPerHost: 512, DisableCompression: true},
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := readBody(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength, r.TransferEncoding = int64(len(body)), nil
		relay.ServeHTTP(w, r)
	})}
	return server.Serve(l)
}

func readBody(r *http.Request) ([]byte, error) {
	if r.ContentLength >= 0 && r.ContentLength <= mostBody {
		body := make([]byte, r.ContentLength)
		_, err := io.ReadFull(r.Body, body)
		return body, err
	}
	return io.ReadAll(io.LimitReader(r.Body, mostBody))
}
