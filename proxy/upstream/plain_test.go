package upstream_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/proxy/upstream"
	"github.com/tokenfare/tokenfare/test/memnet"
)

// line is an upstream at the other end of connections that a test serves by hand.
type line struct {
	*upstream.Upstream
	dialled atomic.Int32
}

// newLine serves each connection by serve, which gets to read requests from it.
func newLine(t *testing.T, serve func(c net.Conn, requests *bufio.Reader)) *line {
	t.Helper()
	network, l := memnet.New(), &line{}
	listener := network.Listen("up:80")
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c, bufio.NewReader(c))
			}()
		}
	}()
	var err error
	l.Upstream, err = upstream.New(upstream.Options{
		Name: "up", URL: "http://up/v1", Key: "sk-key", HeaderTimeout: time.Minute,
		Dial: func(ctx context.Context, network_, address string) (net.Conn, error) {
			l.dialled.Add(1)
			return network.Dial(ctx, network_, address)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.CloseIdle)
	return l
}

// post sends a body.
func (l *line) post(ctx context.Context, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.Endpoint("/chat/completions").String(), strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = l.Header(nil, "application/json")
	return l.RoundTrip(r)
}

// whole reads an answer to its end.
func whole(t *testing.T, resp *http.Response, err error) (status int, body string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	return resp.StatusCode, string(text)
}

// answered reads one request and writes text.
func answered(c net.Conn, requests *bufio.Reader, text string) (body string, ok bool) {
	r, err := http.ReadRequest(requests)
	if err != nil {
		return "", false
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return "", false
	}
	_, err = io.WriteString(c, text)
	return string(b), err == nil
}

const (
	fixed   = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
	chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
)

// TestAConnectionServesManyCalls: as long as its answers are read to their ends, and the server does not mean to close it.
func TestAConnectionServesManyCalls(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		read   bool
		dials  int32 // for three calls
	}{
		"of a known length":             {fixed, true, 1},
		"in chunks":                     {chunked, true, 1},
		"without a body":                {"HTTP/1.1 204 No Content\r\n\r\n", true, 1},
		"after interim answers":         {"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + fixed, true, 1},
		"that says close":               {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", true, 3},
		"of HTTP/1.0":                   {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", true, 3},
		"with something behind it":      {fixed + "HTTP/1.1 200 OK\r\n", true, 3},
		"that is closed before its end": {chunked, false, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLine(t, func(conn net.Conn, requests *bufio.Reader) {
					for {
						if _, ok := answered(conn, requests, c.answer); !ok {
							return
						}
					}
				})
				for range 3 {
					resp, err := l.post(t.Context(), "body")
					if err != nil {
						t.Fatal(err)
					}
					if c.read {
						if _, body := whole(t, resp, nil); body != "hi" && resp.StatusCode == 200 {
							t.Errorf("it says %q", body)
						}
					}
					resp.Body.Close()
					synctest.Wait()
				}
				if n := l.dialled.Load(); n != c.dials {
					t.Errorf("%d connections for three calls, want %d", n, c.dials)
				}
			})
		})
	}
}

// TestIdleConnectionsEnd: before those servers close them that close the soonest.
func TestIdleConnectionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int32
		l := newLine(t, func(c net.Conn, requests *bufio.Reader) {
			open.Add(1)
			defer open.Add(-1)
			for {
				if _, ok := answered(c, requests, fixed); !ok {
					return
				}
			}
		})
		ask := func() { resp, err := l.post(t.Context(), "body"); whole(t, resp, err) }
		ask()
		time.Sleep(3 * time.Second)
		ask()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if n := open.Load(); n != 1 {
			t.Fatalf("%d connections are open, and one was used three seconds ago", n)
		}
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		if n := open.Load(); n != 0 {
			t.Errorf("%d connections are open after four idle seconds", n)
		}
	})
}

// TestAConnectionThatWasClosedWhileItWasIdle is not used again: nothing was sent, so another one is.
func TestAConnectionThatWasClosedWhileItWasIdle(t *testing.T) {
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		io.Copy(w, r.Body)
	}))
	defer server.Close()
	u, err := upstream.New(upstream.Options{Name: "up", URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	l := &line{Upstream: u}
	for range 50 {
		resp, err := l.post(t.Context(), "echo")
		if _, body := whole(t, resp, err); body != "echo" {
			t.Fatalf("it says %q", body)
		}
		server.CloseClientConnections()
	}
	if n := calls.Load(); n != 50 {
		t.Errorf("the server had %d calls, want 50", n)
	}
}

// TestWhatAnErrorTells: whether the upstream may have all of the request.
func TestWhatAnErrorTells(t *testing.T) {
	nothing := func(net.Conn, *bufio.Reader) {}
	hangsUp := func(c net.Conn, requests *bufio.Reader) { answered(c, requests, "") }
	silent := func(c net.Conn, requests *bufio.Reader) {
		answered(c, requests, "")
		io.Copy(io.Discard, requests)
	}
	endless := func(c net.Conn, requests *bufio.Reader) {
		answered(c, requests, "HTTP/1.1 200 OK\r\n")
		for i := 0; ; i++ {
			if _, err := fmt.Fprintf(c, "X-%d: %s\r\n", i, strings.Repeat("a", 1000)); err != nil {
				return
			}
		}
	}
	garbage := func(c net.Conn, requests *bufio.Reader) { answered(c, requests, "SSH-2.0-OpenSSH_9.6\r\n\r\n") }
	interim := func(c net.Conn, requests *bufio.Reader) {
		answered(c, requests, "")
		for {
			if _, err := io.WriteString(c, "HTTP/1.1 102 Processing\r\n\r\n"); err != nil {
				return
			}
		}
	}
	for name, c := range map[string]struct {
		serve   func(net.Conn, *bufio.Reader)
		written bool
		timeout bool
	}{
		"it closes the connection at once":  {nothing, false, false},
		"it reads the request and hangs up": {hangsUp, true, false},
		"it is silent":                      {silent, true, true},
		"its head never ends":               {endless, true, false},
		"it speaks something else":          {garbage, true, false},
		"it only says that it is at it":     {interim, true, false},
	} {
		for size, body := range map[string]string{"short": "body", "long": strings.Repeat("body", 100_000)} {
			t.Run(name+"/"+size, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := newLine(t, c.serve)
					began := time.Now()
					resp, err := l.post(t.Context(), body)
					var failed *upstream.Error
					if !errors.As(err, &failed) {
						t.Fatalf("%v %v", resp, err)
					}
					if failed.Written != c.written || upstream.IsTimeout(err) != c.timeout {
						t.Errorf("written %v, timeout %v: %v", failed.Written, upstream.IsTimeout(err), err)
					}
					if waited := time.Since(began); c.timeout != (waited == time.Minute) {
						t.Errorf("it took %s", waited)
					}
				})
			})
		}
	}
}

// TestACallThatIsGivenUp: at any moment, at once, with the reason it was given up for.
func TestACallThatIsGivenUp(t *testing.T) {
	reason := errors.New("nobody wants it any more")
	for name, text := range map[string]string{
		"before the head":   "",
		"in the middle":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n",
		"in a known length": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhi",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan time.Time, 1)
				l := newLine(t, func(c net.Conn, requests *bufio.Reader) {
					answered(c, requests, text)
					io.Copy(io.Discard, requests)
					ended <- time.Now()
				})
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(reason) })
				resp, err := l.post(ctx, "body")
				if err == nil {
					_, err = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				if !errors.Is(err, reason) {
					t.Errorf("%v", err)
				}
				if at := <-ended; time.Since(at) != 0 {
					t.Errorf("the upstream learnt of it %s ago", time.Since(at))
				}
			})
		})
	}
}

// TestAnAnswerBeforeTheRequestIsRead: it is passed on, and the connection is not used again.
func TestAnAnswerBeforeTheRequestIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(t, func(c net.Conn, requests *bufio.Reader) {
			if _, err := http.ReadRequest(requests); err != nil {
				return
			}
			io.WriteString(c, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 8\r\n\r\ntoo long")
			time.Sleep(time.Second) // it reads no more, and is not gone yet
		})
		for range 2 {
			resp, err := l.post(t.Context(), strings.Repeat("long", 100_000))
			if status, body := whole(t, resp, err); status != 413 || body != "too long" {
				t.Errorf("%d %q", status, body)
			}
		}
		if n := l.dialled.Load(); n != 2 {
			t.Errorf("%d connections for two calls", n)
		}
		time.Sleep(time.Minute)
	})
}

// TestLongRequestsArriveWhole.
func TestLongRequestsArriveWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := make(chan string, 1)
		l := newLine(t, func(c net.Conn, requests *bufio.Reader) {
			for {
				body, ok := answered(c, requests, fixed)
				if !ok {
					return
				}
				got <- body
			}
		})
		for _, n := range []int{0, 1, 32<<10 - 1, 32 << 10, 32<<10 + 1, 5 << 20} {
			body := strings.Repeat("x", n)
			resp, err := l.post(t.Context(), body)
			whole(t, resp, err)
			if got := <-got; got != body {
				t.Errorf("of %d bytes %d arrived", n, len(got))
			}
			synctest.Wait()
		}
		if n := l.dialled.Load(); n != 1 {
			t.Errorf("%d connections for six calls", n)
		}
	})
}
