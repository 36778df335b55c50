package upstream_test

import (
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy/upstream"
)

// TestWhatHangsIsToldFromWhatIsNotThere: over TLS as without.
func TestWhatHangsIsToldFromWhatIsNotThere(t *testing.T) {
	silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then it is seen that the client leaves
		<-r.Context().Done()
	})
	open, secure := httptest.NewServer(silent), httptest.NewTLSServer(silent)
	defer open.Close()
	defer secure.Close()
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	for _, c := range []struct {
		name, url, roots string
		hung             bool
	}{
		{"plain", open.URL, "", true},
		{"TLS", secure.URL, roots, true},
		{"nobody", "http://" + nobody.Addr().String(), "", false},
		{"nobody over TLS", "https://" + nobody.Addr().String(), roots, false},
	} {
		u, err := upstream.New(upstream.Options{Name: "up", URL: c.url, CAFile: c.roots, HeaderTimeout: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, u.Endpoint("/x").String(), strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := u.RoundTrip(r)
		if err == nil {
			resp.Body.Close()
		}
		if e, ok := errors.AsType[*upstream.Error](err); !ok || e.Hung != c.hung || e.Written != c.hung {
			t.Errorf("%s: %+v", c.name, err)
		}
		u.CloseIdle()
	}
}
