package upstream_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy/upstream"
)

// FuzzPlain answers a request with any bytes: what is read of them is what net/http's Transport reads of them.
func FuzzPlain(f *testing.F) {
	for _, text := range []string{
		fixed, chunked, "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\nto the end", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
		"HTTP/1.1 100 Continue\r\n\r\n" + fixed, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nraw", "HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n1\r\na\r\n0\r\nX: y\r\n\r\n", "HTTP/1.1 200 OK\r\n folded: x\r\n\r\n", "\r\n", "HTTP/9.9 200 OK\r\n\r\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 200<<10 { // the two bound the head in different places
			return
		}
		serve := func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				defer theirs.Close()
				if _, err := http.ReadRequest(bufio.NewReader(theirs)); err == nil {
					theirs.Write(text)
				}
			}()
			return ours, nil
		}
		// A net.Pipe keeps the timer of its deadline, and itself with it, until that has passed: those of twenty minutes took twelve gigabytes.
		u, err := upstream.New(upstream.Options{Name: "up", URL: "http://up/v1", Dial: serve, HeaderTimeout: 30 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		ask := func(rt http.RoundTripper) (*http.Response, []byte, error) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://up/v1/chat/completions", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := rt.RoundTrip(r)
			if err != nil {
				return nil, nil, err
			}
			defer resp.Body.Close()
			if resp.StatusCode == http.StatusSwitchingProtocols {
				return resp, nil, nil // whose body is a connection
			}
			body, err := io.ReadAll(resp.Body)
			return resp, body, err
		}
		got, gotBody, gotErr := ask(u)
		want, wantBody, wantErr := ask(&http.Transport{DialContext: serve, DisableCompression: true, DisableKeepAlives: true})
		if (got == nil) != (want == nil) || (gotErr == nil) != (wantErr == nil) {
			if bytes.Count(text, []byte("HTTP/1.1 1")) > 1 { // of interim answers more are taken here
				return
			}
			t.Fatalf("%v, %v; want %v, %v", got, gotErr, want, wantErr)
		}
		if got == nil {
			return
		}
		if got.StatusCode != want.StatusCode || !bytes.Equal(gotBody, wantBody) || fmt.Sprint(got.Header) != fmt.Sprint(want.Header) || got.ContentLength != want.ContentLength {
			t.Fatalf("%d %v %q; want %d %v %q", got.StatusCode, got.Header, gotBody, want.StatusCode, want.Header, wantBody)
		}
	})
}
