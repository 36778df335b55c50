package main

import (
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// Over TLS, too, those who are too many are told, whichever HTTP they would rather speak.
func TestThreatTooManyConnectionsOverTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pair(t, cert, key, 1)
	certificate, err := newCertificate(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate.get}
	c := newCrowd(l, 1, secure.Clone(), slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	server := &http.Server{TLSConfig: secure, Handler: c.lead(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "served")
	}))}
	go server.ServeTLS(c, "", "")
	defer server.Close()
	get := func(newer bool) (status int, protocol, body string) {
		client := http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: newer, //nolint:gosec // it is its own authority
		}}
		resp, err := client.Get("https://" + l.Addr().String() + "/v1/models") // its connection is kept
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, resp.Proto, string(text)
	}
	if status, protocol, body := get(true); status != http.StatusOK || protocol != "HTTP/2.0" || body != "served" {
		t.Errorf("the first: %d %s %s", status, protocol, body)
	}
	for _, newer := range []bool{true, false} {
		if status, _, body := get(newer); status != http.StatusServiceUnavailable || !strings.Contains(body, "server_busy") {
			t.Errorf("one more: %d %s", status, body)
		}
	}
}
