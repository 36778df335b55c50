package upstream_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/proxy/upstream"
)

// TestInterimAnswersOverTLS: some may come before an answer; then it is given up, and not asked again.
func TestInterimAnswersOverTLS(t *testing.T) {
	for protocol, h2 := range protocols {
		t.Run(protocol, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var hints, asked atomic.Int32
				l := overTLS(t, h2, func(w http.ResponseWriter, r *http.Request) {
					io.Copy(io.Discard, r.Body)
					asked.Add(1)
					for range hints.Load() {
						w.WriteHeader(http.StatusEarlyHints)
					}
					io.WriteString(w, "hi")
				})
				hints.Store(15)
				resp, err := l.post(t.Context(), "{}")
				if status, body := whole(t, resp, err); status != 200 || body != "hi" {
					t.Errorf("%d %q", status, body)
				}
				hints.Store(17)
				resp, err = l.post(t.Context(), "{}")
				if e, ok := errors.AsType[*upstream.Error](err); !ok || !e.Written || e.Hung {
					t.Errorf("%v %v", resp, err)
				}
				if n := asked.Load(); n != 2 {
					t.Errorf("it was asked %d times", n)
				}
			})
		})
	}
}

// TestAServerThatGoesAway: what it has begun it ends, over HTTP/2, and the next call goes over a new connection. Nothing is sent twice.
func TestAServerThatGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		opened := 0
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
			if !info.Reused {
				opened++
			}
		}})
		l := overTLS(t, true, func(w http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			switch asked.Add(1); string(text) {
			case "slow":
				io.WriteString(w, "one ")
				http.NewResponseController(w).Flush()
				time.Sleep(time.Minute)
			case "last":
				w.Header().Set("Connection", "close") // with which net/http's server says GOAWAY
			}
			io.WriteString(w, "two")
		})
		slow, err := l.post(ctx, "slow")
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range []string{"last", "more", "more"} {
			resp, err := l.post(ctx, body)
			if status, text := whole(t, resp, err); status != 200 || text != "two" {
				t.Errorf("%s: %d %q", body, status, text)
			}
			synctest.Wait()
		}
		if status, text := whole(t, slow, nil); status != 200 || text != "one two" {
			t.Errorf("the one that ran: %d %q", status, text)
		}
		if n := asked.Load(); n != 4 || opened != 2 {
			t.Errorf("it was asked %d times, on %d connections", n, opened)
		}
	})
}
