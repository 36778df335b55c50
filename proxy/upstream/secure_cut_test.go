package upstream_test

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tokenfare/tokenfare/proxy/upstream"
)

// lingering closes only when its goodbye was answered, if it said one: TLS does before it closes a connection, unless it is busy writing.
type lingering struct {
	net.Conn
	leaving *atomic.Bool
	said    atomic.Bool
	once    sync.Once
	more    chan struct{} // closed: something was read after the goodbye
}

func (l *lingering) Write(p []byte) (int, error) {
	l.said.Store(l.leaving.Load())
	return l.Conn.Write(p)
}

func (l *lingering) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if l.said.Load() {
		l.once.Do(func() { close(l.more) })
	}
	return n, err
}

func (l *lingering) Close() error {
	if l.said.Load() {
		<-l.more
	}
	return l.Conn.Close()
}

// TestAnAnswerThatWasCutIsNotWhole: a server that is told that nobody wants the rest of its answer may end it in order, and that end may
// still be read.
func TestAnAnswerThatWasCutIsNotWhole(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, "one ")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	var leaving atomic.Bool
	u, err := upstream.New(upstream.Options{
		Name: "up", URL: server.URL, CAFile: roots,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			raw, err := (&net.Dialer{}).DialContext(ctx, network, address)
			return &lingering{Conn: raw, leaving: &leaving, more: make(chan struct{})}, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	resp, err := (&line{Upstream: u}).post(ctx, "{}")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first := make([]byte, 4)
	if _, err := io.ReadFull(resp.Body, first); err != nil {
		t.Fatal(err)
	}
	leaving.Store(true)
	leave()
	if rest, err := io.ReadAll(resp.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("%q, %v: it looks whole", rest, err)
	}
}
