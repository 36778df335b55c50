package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// usedOf is what a limit of alice's has counted, once every call has settled.
func (v *virtual) usedOf(t *testing.T, sentence string) int64 {
	t.Helper()
	if n := v.limiter.OpenCount(); n != 0 {
		t.Errorf("%d reservations are open", n)
	}
	states := v.states()
	s, ok := states["key alice: "+limits(t, sentence)[0].ID()]
	if !ok {
		t.Fatalf("no budget %q among %v", sentence, states)
	}
	return s.Used
}

// An upstream that cannot be reached is an error soon, which names no address and costs nothing.
func TestThreatUnreachableUpstream(t *testing.T) {
	const address = "10.9.8.7:443"
	for name, c := range map[string]struct {
		after time.Duration
		err   error
	}{
		"refused":        {0, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}},
		"no route":       {time.Second, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.EHOSTUNREACH)}},
		"no name":        {0, &net.DNSError{Err: "no such host", Name: "secret-host.internal", Server: address, IsNotFound: true}},
		"names fail":     {5 * time.Second, &net.DNSError{Err: "server misbehaving", Name: "secret-host.internal", Server: address, IsTemporary: true}},
		"names are slow": {5 * time.Second, &net.DNSError{Err: "i/o timeout", Name: "secret-host.internal", Server: address, IsTimeout: true}},
		"no files":       {0, os.NewSyscallError("socket", syscall.EMFILE)},
		"no reason":      {0, errors.New("dial " + address + ": secret-host.internal")},
	} {
		for _, body := range []string{hi, streamed} {
			inBubble(t, func(t *testing.T) {
				v := newVirtual(t, alice(t, plenty), nil, func(s *settings) {
					s.dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
						select {
						case <-time.After(c.after):
							return nil, c.err
						case <-ctx.Done():
							return nil, ctx.Err()
						}
					}
				})
				got := v.chat(body)
				if got.status != http.StatusBadGateway || got.whole > c.after+100*time.Millisecond {
					t.Errorf("%s: %d after %s: %s", name, got.status, got.whole, got.body)
				}
				got.errorOf(t)
				if strings.Contains(got.body, "10.9") || strings.Contains(got.body, "secret-host") || strings.Contains(v.log.String(), "secret-host") {
					t.Errorf("%s: the address is told: %s\n%s", name, got.body, v.log.String())
				}
				if used := v.usedOf(t, plenty); used != 0 {
					t.Errorf("%s: charged %d", name, used)
				}
			})
		}
	}
}

// An upstream that says nothing is waited for as long as is configured.
func TestThreatSilentUpstream(t *testing.T) {
	for _, timeout := range []time.Duration{0, time.Minute} {
		inBubble(t, func(t *testing.T) {
			spec := alice(t, plenty)
			spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", Key: "sk-upstream-secret", HeaderTimeout: timeout}}
			cancelled := make(chan time.Time, 2)
			v := newVirtual(t, spec, func(_ http.ResponseWriter, r *http.Request) {
				<-r.Context().Done()
				cancelled <- time.Now()
			})
			began := time.Now()
			got := v.chat(hi)
			want := timeout
			if want == 0 {
				want = 20 * time.Minute
			}
			if _, _, _, code := got.errorOf(t); got.status != http.StatusGatewayTimeout || code != "upstream_timeout" || got.whole != want {
				t.Errorf("%d after %s, want 504 after %s: %s", got.status, got.whole, want, got.body)
			}
			if left := (<-cancelled).Sub(began); left != want {
				t.Errorf("the upstream's call ended after %s", left)
			}
			if used := v.usedOf(t, plenty); used != reserved { // it may have been worked on
				t.Errorf("charged %d, want %d", used, reserved)
			}
		})
	}
}

// A comment is life, and passes on at once; silence is ended.
func TestThreatSilenceInAStream(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, alice(t, plenty), func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			flush := http.NewResponseController(w).Flush
			io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word\"}}]}\n\n")
			for range 20 {
				_ = flush()
				time.Sleep(9 * time.Minute)
				io.WriteString(w, ": keep-alive\n\n")
			}
			_ = flush()
			<-r.Context().Done()
		})
		got := v.chat(streamed)
		if want := 20*9*time.Minute + 10*time.Minute; got.whole != want || got.err == nil || strings.Count(got.body, ": keep-alive\n\n") != 20 {
			t.Errorf("ended after %s, want %s, with %v and %d comments", got.whole, want, got.err, strings.Count(got.body, ": keep-alive"))
		}
		if got.first != 0 {
			t.Errorf("the first word came after %s", got.first)
		}
		if used := v.usedOf(t, plenty); used != 8+1 {
			t.Errorf("charged %d, want the prompt and one word", used)
		}
	})
}

// A stream that never ends passes until its client leaves, and is charged as long as it was, whatever limit the upstream was told.
func TestThreatStreamWithoutEnd(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ended := make(chan time.Time, 1)
		v := newVirtual(t, alice(t, plenty), func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"}}]}\n\n"); err != nil {
					break
				}
				_ = http.NewResponseController(w).Flush()
				select {
				case <-time.After(time.Second):
				case <-r.Context().Done():
				}
			}
			ended <- time.Now()
		})
		began := time.Now()
		ctx, leave := context.WithTimeout(t.Context(), time.Hour+500*time.Millisecond)
		defer leave()
		got := v.chatUntil(ctx, streamed)
		if n := strings.Count(got.body, "word"); got.err == nil || n != 3601 {
			t.Errorf("%v, %d words in an hour", got.err, n)
		}
		if at := (<-ended).Sub(began); at > got.whole+100*time.Millisecond {
			t.Errorf("the upstream's call ended after %s, the client left after %s", at, got.whole)
		}
		time.Sleep(time.Second)
		if used := v.usedOf(t, plenty); used != 8+3601 {
			t.Errorf("charged %d, want the prompt and all words", used)
		}
	})
}

// A client that reads nothing holds its upstream back, and is let go when a write has waited for too long.
func TestThreatClientThatDoesNotRead(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ended, sent := make(chan time.Time, 1), 0
		v := newVirtual(t, alice(t, plenty), func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				n, err := io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"}}]}\n\n")
				if err != nil || http.NewResponseController(w).Flush() != nil {
					break
				}
				if sent == 0 {
					time.Sleep(time.Second)
				}
				sent += n
			}
			ended <- time.Now()
		})
		began := time.Now()
		conn, err := v.network.Dial(t.Context(), "tcp", "proxy:80")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", wire.Chat, secret, len(streamed), streamed)
		if err := conn.SetReadDeadline(time.Now().Add(time.Second / 2)); err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(conn); !strings.Contains(string(text), "word") || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%q, %v, want the first word and no more", text, err)
		}
		at := (<-ended).Sub(began)
		if at < 10*time.Minute || at > 25*time.Minute || sent > 1<<20 {
			t.Errorf("the upstream could send %d bytes, until %s", sent, at)
		}
		time.Sleep(25*time.Minute - at)
		if used := v.usedOf(t, plenty); used < 8+1 {
			t.Errorf("charged %d", used)
		}
	})
}

// Nothing is sent twice: not on a connection that breaks under it, and not because a client says that it may be.
func TestThreatRetries(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var asked, good int
		v := newVirtual(t, alice(t, plenty), func(w http.ResponseWriter, r *http.Request) {
			asked++
			if asked <= good {
				answerWith(200, plainAnswer(8, 3))(w, r)
				return
			}
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			conn.Close()
		})
		for calls := 1; calls <= 20; calls += 2 {
			good = calls
			if got := v.chat(hi, "Idempotency-Key", "again", "X-Idempotency-Key", "again"); got.status != 200 { // its connection is kept
				t.Fatalf("%d %s", got.status, got.body)
			}
			if got := v.chat(hi, "Idempotency-Key", "again", "X-Idempotency-Key", "again"); got.status != http.StatusBadGateway {
				t.Errorf("%d %s", got.status, got.body)
			}
			if asked != calls+1 {
				t.Fatalf("the upstream was asked %d times by %d calls", asked, calls+1)
			}
		}
	})
}
