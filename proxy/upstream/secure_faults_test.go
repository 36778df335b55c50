package upstream_test

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/proxy/upstream"
	"github.com/tokenfare/tokenfare/test/memnet"
)

// protocols are those that are spoken over TLS; true: it is HTTP/2.
var protocols = map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true}

// overTLS is an upstream over TLS, with HTTP/2 or without, in the current bubble.
func overTLS(t *testing.T, h2 bool, serve http.HandlerFunc) *line {
	t.Helper()
	network := memnet.New()
	server := httptest.NewUnstartedServer(serve)
	server.Listener.Close()
	server.Listener, server.EnableHTTP2 = network.Listen("example.com:443"), h2 // of whom httptest has a certificate
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	u, err := upstream.New(upstream.Options{Name: "up", URL: "https://example.com/v1", CAFile: roots, HeaderTimeout: time.Minute, Dial: network.Dial})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		u.CloseIdle()
		server.CloseClientConnections()
		server.Close()
	})
	return &line{Upstream: u}
}

// TestFaultsOverTLS are told as they are without, over HTTP/1.1 and HTTP/2.
func TestFaultsOverTLS(t *testing.T) {
	hangsUp := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	readsAndHangsUp := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		hangsUp(w, r)
	}
	silent := func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // only then it is seen that the client leaves
		<-r.Context().Done()
	}
	noReader := func(http.ResponseWriter, *http.Request) { time.Sleep(time.Hour) }
	short, long := "{}", strings.Repeat("long", 4<<20)
	for name, c := range map[string]struct {
		serve         http.HandlerFunc
		body          string
		hung, written bool
	}{
		"it is silent":                {silent, short, true, true},
		"it is silent for long":       {silent, long, true, true},
		"it does not read":            {noReader, long, true, false},
		"it reads and hangs up":       {readsAndHangsUp, long, false, true},
		"it hangs up without reading": {hangsUp, long, false, false},
	} {
		for protocol, h2 := range protocols {
			t.Run(name+"/"+protocol, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var asked atomic.Int32
					l := overTLS(t, h2, func(w http.ResponseWriter, r *http.Request) {
						if asked.Add(1); r.Proto != protocol {
							t.Errorf("it speaks %s", r.Proto)
						}
						c.serve(w, r)
					})
					ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
					defer cancel()
					began := time.Now()
					resp, err := l.post(ctx, c.body)
					if err == nil {
						resp.Body.Close()
					}
					e, ok := errors.AsType[*upstream.Error](err)
					if !ok || e.Hung != c.hung || e.Written != c.written || e.Unread == (c.hung || c.written) || upstream.IsTimeout(err) != c.hung {
						t.Errorf("%+v", e)
					}
					if took := time.Since(began); c.hung != (took == time.Minute) || took > time.Minute {
						t.Errorf("it took %s", took)
					}
					if n := asked.Load(); n != 1 {
						t.Errorf("it was asked %d times", n)
					}
					time.Sleep(time.Hour) // whoever does not read has ended by then
				})
			})
		}
	}
}

// TestAnAnswerOverTLSMayTakeLong: the time for an answer's headers ends with them. One that breaks off is not taken for whole.
func TestAnAnswerOverTLSMayTakeLong(t *testing.T) {
	for protocol, h2 := range protocols {
		t.Run(protocol, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				breaks := false
				l := overTLS(t, h2, func(w http.ResponseWriter, r *http.Request) {
					io.Copy(io.Discard, r.Body)
					time.Sleep(59 * time.Second)
					io.WriteString(w, "one ")
					http.NewResponseController(w).Flush()
					time.Sleep(time.Hour)
					io.WriteString(w, "two")
					if http.NewResponseController(w).Flush(); breaks {
						panic(http.ErrAbortHandler)
					}
				})
				resp, err := l.post(t.Context(), "{}")
				if status, body := whole(t, resp, err); status != 200 || body != "one two" {
					t.Errorf("%d %q", status, body)
				}
				breaks = true
				if resp, err = l.post(t.Context(), "{}"); err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				if text, err := io.ReadAll(resp.Body); err == nil || string(text) != "one two" {
					t.Errorf("read %q, %v", text, err)
				}
			})
		})
	}
}

// TestNothingIsSentTwiceOverTLS: not on a connection that breaks under it either. A Transport takes that for one that was closed while
// it was idle, and sends on another what it thinks may be repeated.
func TestNothingIsSentTwiceOverTLS(t *testing.T) {
	for protocol, h2 := range protocols {
		t.Run(protocol, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int32
				l := overTLS(t, h2, func(w http.ResponseWriter, r *http.Request) {
					io.Copy(io.Discard, r.Body)
					if asked.Add(1)%2 == 0 {
						panic(http.ErrAbortHandler)
					}
					io.WriteString(w, "hi")
				})
				for calls := int32(1); calls <= 6; calls++ {
					resp, err := l.post(t.Context(), "{}")
					if calls%2 == 1 {
						whole(t, resp, err)
					} else if e, ok := errors.AsType[*upstream.Error](err); !ok || !e.Written {
						t.Errorf("call %d: %v %v", calls, resp, err)
					}
					if n := asked.Load(); n != calls {
						t.Fatalf("%d calls were sent for %d", n, calls)
					}
					synctest.Wait()
				}
			})
		})
	}
}
