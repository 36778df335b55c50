package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// longOf is a call with so many words.
func longOf(words int) string { return strings.Replace(hi, "Hi", strings.Repeat("hello ", words), 1) }

// A 429 that is about one call, for which the account never has room, moves that call alone. Any other moves everybody for a while.
func TestThreatACallThatNeverFitsMovesNobodyElse(t *testing.T) {
	for name, c := range map[string]struct {
		says  string
		moves bool
	}{
		"never": {"Request too large for gpt-4o in organization org-a on tokens per min (TPM): Limit 10000, Requested 16000. The input or output tokens must be reduced in order to run successfully.", false},
		"later": {"Rate limit reached for gpt-4o in organization org-a on tokens per min (TPM): Limit 10000, Used 9000, Requested 1600. Please try again in 3.6s.", true},
		"vague": {"Too many requests", true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				v := newVirtual(t, pairSpec(t, "1000m tokens in total"), func(w http.ResponseWriter, r *http.Request) {
					if isOne(r) && r.ContentLength > 10_000 {
						w.Header().Set("Retry-After", "20")
						answerWith(429, errorBody(c.says))(w, r)
						return
					}
					answerWith(200, plainAnswer(8, 3))(w, r)
				})
				if got := v.chat(longOf(10_000)); got.status != 200 {
					t.Fatalf("%d %s", got.status, got.body)
				}
				if asked := v.sent(); len(asked) != 2 || !isOne(asked[0]) || isOne(asked[1]) {
					t.Errorf("%d upstreams were asked", len(asked))
				}
				v.chat(hi)
				if asked := v.sent(); isOne(asked[2]) == c.moves {
					t.Errorf("the next call went to %s", asked[2].Header.Get("Authorization"))
				}
			})
		})
	}
}

// refuser is where a server listens that takes short bodies, and closes the connection of long ones before it has read them, having
// said something or not.
func refuser(t *testing.T, says string) (dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				c.(*net.TCPConn).SetReadBuffer(16 << 10) // a long body has not left when it is closed
				r, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				if r.ContentLength > 100_000 {
					io.WriteString(c, says)
					return
				}
				io.Copy(io.Discard, r.Body)
				a := plainAnswer(8, 3)
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Request-Id: taken\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(a), a)
			}()
		}
	}()
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", listener.Addr().String())
		if err == nil {
			err = c.(*net.TCPConn).SetWriteBuffer(16 << 10)
		}
		return c, err
	}
}

// A server that resets connections rather than read bodies that are too long for it is well: such a call goes on to the next upstream,
// and the others stay.
func TestThreatALongBodyThatBreaksMovesNobodyElse(t *testing.T) {
	spec := pairSpec(t, "1000m tokens in total")
	spec.Upstreams[0].Dial = refuser(t, "")
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
	for range 6 {
		if got := h.chat(longOf(400_000)); got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		<-h.asked // the second
	}
	if n := h.metric("tokenfare_upstream_rests_total", "upstream", "one"); n != 0 {
		t.Errorf("it rests, %v times", n)
	}
	if got := h.chat(hi); got.status != 200 || got.header.Get("X-Request-Id") != "taken" || len(h.asked) != 0 {
		t.Errorf("a short call was not served by the first: %d %s", got.status, got.body)
	}
}

// TestEarlyCloseRestsNobody: servers that answer 413 and close without reading (a reset follows) go on being asked, however many such
// calls there are.
func TestEarlyCloseRestsNobody(t *testing.T) {
	spec := pairSpec(t, "1000m tokens in total")
	dial := refuser(t, "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
	spec.Upstreams[0].Dial, spec.Upstreams[1].Dial = dial, dial
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
	for i := range 12 {
		// Where the reset overtakes the answer, that is lost.
		got := h.chat(longOf(400_000))
		if _, _, _, code := got.errorOf(t); got.status != 413 && (got.status != 502 || code != "upstream_unreachable") {
			t.Errorf("call %d: %d %s", i, got.status, got.body)
		}
	}
	for _, name := range []string{"one", "two"} {
		if n := h.metric("tokenfare_upstream_rests_total", "upstream", name); n != 0 {
			t.Errorf("%s rests, %v times", name, n)
		}
	}
	if got := h.chat(hi); got.status != 200 || got.header.Get("X-Request-Id") != "taken" {
		t.Errorf("a short call: %d %s", got.status, got.body)
	}
	if used := h.used("1000m tokens in total"); used != 8+3 {
		t.Errorf("%d tokens are charged, want those of the call that was served", used)
	}
}
