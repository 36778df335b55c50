package fakeopenai

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// Over is how a server is spoken to.
type Over string

// The ways.
const (
	Plain Over = "HTTP/1.1"
	TLS   Over = "HTTP/1.1 over TLS"
	H2    Over = "HTTP/2 over TLS"
)

// Ways are all of them.
var Ways = []Over{Plain, TLS, H2}

// Start starts a server, and returns the file of its certificate; "" without TLS.
func (o Over) Start(t testing.TB, server *httptest.Server) (caFile string) {
	t.Helper()
	if o == Plain {
		server.Start()
		return ""
	}
	server.EnableHTTP2 = o == H2
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0) // of connections that break
	server.StartTLS()
	caFile = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return caFile
}

// Trust are the members of an upstream's configuration that let it be spoken to: UpstreamExtra in harness.Config.
func (s *Server) Trust() string { return Trust(s.CAFile) }

// Trust is that of any server with the certificate in a file; without TLS it is nothing.
func Trust(caFile string) string {
	if caFile == "" {
		return ""
	}
	return "ca_file: " + quote(caFile)
}

// connOf is where a request's context holds its connection.
type connOf struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connOf{}, c)
}

// sever closes the connection that a request came on with a reset: over HTTP/2 all calls on it break.
func sever(ctx context.Context) {
	c := ctx.Value(connOf{}).(net.Conn) //nolint:forcetypeassert // every request has one
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.Close()
}
