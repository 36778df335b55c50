package upstream_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tokenfare/tokenfare/proxy/upstream"
)

// TestWhoLeavesAsTheRequestIsWritten: a call that is cancelled in the very moment in which its request leaves, or in any other, may have been
// read by the upstream whenever it has been.
func TestWhoLeavesAsTheRequestIsWritten(t *testing.T) {
	for name, h2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		for size, body := range map[string]string{"short": "{}", "long": strings.Repeat("long", 20<<10)} {
			t.Run(name+", "+size, func(t *testing.T) {
				var leave atomic.Pointer[context.CancelFunc]
				var whole atomic.Int32
				done := make(chan struct{})
				l := overTLS(t, h2, func(w http.ResponseWriter, r *http.Request) {
					defer func() { done <- struct{}{} }()
					at := len(body)
					if n, _ := io.ReadFull(r.Body, make([]byte, at)); n == at {
						whole.Add(1)
					}
					(*leave.Load())()
					<-r.Context().Done()
				})
				for i := range 300 {
					ctx, cancel := context.WithCancel(t.Context())
					leave.Store(&cancel)
					before := whole.Load()
					resp, err := l.post(ctx, body)
					if err == nil {
						t.Fatalf("an answer: %d", resp.StatusCode)
					}
					<-done
					told, ok := errors.AsType[*upstream.Error](err)
					if got := whole.Load() > before; !ok || got && !told.Written {
						t.Fatalf("call %d: the upstream has read all of the request, and of %v it is said that it has not", i, err)
					}
					cancel()
				}
			})
		}
	}
}
