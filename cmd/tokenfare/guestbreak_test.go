package main

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"path/filepath"
	"syscall"
	"testing"
)

// TestABrokenGuestHasWhatWasWritten: a connection is reset once its client has received everything; and over TLS nothing says that it was
// closed in order, whoever closes it after that.
func TestABrokenGuestHasWhatWasWritten(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pair(t, cert, key, 1)
	certificate, err := newCertificate(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	for name, wrap := range map[string]struct{ server, client func(net.Conn) net.Conn }{
		"plain": {func(c net.Conn) net.Conn { return c }, func(c net.Conn) net.Conn { return c }},
		"over TLS": {
			func(c net.Conn) net.Conn { return tls.Server(c, &tls.Config{GetCertificate: certificate.get}) }, //nolint:gosec // a test's
			func(c net.Conn) net.Conn { return tls.Client(c, &tls.Config{InsecureSkipVerify: true}) },        //nolint:gosec // it is its own authority
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			written, left := bytes.Repeat([]byte("a word "), 600_000), make(chan struct{})
			go func() {
				conn, err := l.Accept()
				if err != nil {
					t.Error(err)
					return
				}
				g := &guest{Conn: conn, leave: func() { close(left) }}
				outer := wrap.server(g)
				if _, err := outer.Write(written); err != nil {
					t.Error(err)
				}
				g.Break()
				outer.Close() // as net/http does
			}()
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			got, err := io.ReadAll(wrap.client(conn))
			if !errors.Is(err, syscall.ECONNRESET) || !bytes.Equal(got, written) {
				t.Errorf("%d bytes of %d, and %v", len(got), len(written), err)
			}
			<-left // or its place would be taken for ever
		})
	}
}
