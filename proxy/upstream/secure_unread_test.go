package upstream_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestStreamsThatNobodyReads hold little each over HTTP/2, and do not hold up the others on their connection.
func TestStreamsThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const streams, most = 200, 256 << 10 // bytes that are taken of each
		var sent atomic.Int64
		l := overTLS(t, true, func(w http.ResponseWriter, r *http.Request) {
			if body, _ := io.ReadAll(r.Body); string(body) == "little" {
				io.WriteString(w, strings.Repeat("x", 1<<20))
				return
			}
			block := make([]byte, 4<<10)
			for {
				n, err := w.Write(block)
				if err != nil {
					return
				}
				sent.Add(int64(n))
			}
		})
		opened := 0
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
			if !info.Reused {
				opened++
			}
		}})
		for range streams {
			resp, err := l.post(ctx, "much")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
		}
		synctest.Wait() // until nobody can send any more
		if n := sent.Load(); n > streams*most {
			t.Errorf("%d KiB were taken of each of %d streams that nobody reads", n/streams>>10, streams)
		}
		soon, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		resp, err := l.post(soon, "little")
		if status, body := whole(t, resp, err); status != 200 || len(body) != 1<<20 || opened != 1 {
			t.Errorf("another stream: %d, %d bytes, %d connections", status, len(body), opened)
		}
	})
}
