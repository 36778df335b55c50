package proxy_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
)

// BenchmarkCall is what one call costs in this process, without the kernel and without net/http's server: auth, exact count, three
// budgets, metrics, the log line; the ledger has benchmarks of its own. "bare" is httputil.ReverseProxy with the same upstream.
func BenchmarkCall(b *testing.B) {
	prompt := strings.Repeat("The quick brown fox jumps over the lazy dog, and nobody knows why it did. ", 14)
	body := func(more string) string {
		return `{"model":"gpt-4o-mini",` + more + `"max_tokens":100,"messages":[{"role":"user","content":"` + prompt + `"}]}`
	}
	var events strings.Builder
	for i := range 200 {
		fmt.Fprintf(&events, "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"gpt-4o-mini\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word%d\"},\"finish_reason\":null}]}\n\n", i)
	}
	events.WriteString("data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"gpt-4o-mini\",\"choices\":[],\"usage\":{\"prompt_tokens\":240,\"completion_tokens\":60,\"total_tokens\":300}}\n\ndata: [DONE]\n\n")
	plain := plainAnswer(240, 60)
	for _, c := range []struct{ name, body, answer, secret string }{
		{"plain", body(""), fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(plain), plain), secret},
		{"stream", body(`"stream":true,"stream_options":{"include_usage":true},`), "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" +
			fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", events.Len(), events.String()), secret},
		{"refused", body(""), "", secret + " that is spent"},
	} {
		network := &canned{answer: c.answer}
		b.Run(c.name+"/tokenfare", func(b *testing.B) { benchmarkHandler(b, cannedServer(b, network), c.body, c.secret) })
		if c.answer == "" {
			continue
		}
		bare := &httputil.ReverseProxy{
			Transport:     &http.Transport{DialContext: network.dial, DisableCompression: true, MaxIdleConnsPerHost: 10},
			FlushInterval: -1,
			Rewrite:       func(p *httputil.ProxyRequest) { p.SetURL(&url.URL{Scheme: "http", Host: "up"}) },
		}
		b.Run(c.name+"/bare", func(b *testing.B) { benchmarkHandler(b, bare, c.body, c.secret) })
	}
}

func benchmarkHandler(b *testing.B, h http.Handler, body, secret string) {
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://proxy/v1/chat/completions", io.NopCloser(strings.NewReader(body)))
		if err != nil {
			b.Fatal(err)
		}
		r.ContentLength = int64(len(body))
		r.Header = http.Header{"Authorization": {"Bearer " + secret}, "Content-Type": {"application/json"}, "User-Agent": {"bench"}}
		w := &thrownAway{header: http.Header{}}
		h.ServeHTTP(w, r)
		if want := strings.HasSuffix(secret, "spent"); w.status != http.StatusOK && !want || want && w.status != http.StatusTooManyRequests {
			b.Fatal(w.status)
		}
	}
	b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/1e3/float64(b.N), "cpu-µs/op")
}

// cpuTime is what this process has used. Unlike the clock on the wall it does not see who else is busy.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// cannedServer is the proxy with three budgets, none of which is ever used up, and a key that has used up its own.
func cannedServer(b *testing.B, network *canned) *proxy.Server {
	b.Helper()
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		b.Fatal(err)
	}
	l := limiter.NewMemory()
	policy, err := proxy.NewPolicy(proxy.Spec{
		Upstreams: []proxy.UpstreamSpec{{Name: "up", URL: "http://up/v1", Key: "sk-upstream-secret", Dial: network.dial}},
		Models:    []proxy.ModelSpec{{Pattern: "gpt-*", Upstream: "up"}},
		Keys: []proxy.KeySpec{
			{Name: "alice", Hashes: [][32]byte{sha256.Sum256([]byte(secret))}, Limits: limits(b, "100b tokens per minute", "1b requests in any minute", "$1m each month")},
			{Name: "spent", Hashes: [][32]byte{sha256.Sum256([]byte(secret + " that is spent"))}, Limits: limits(b, "10k tokens in total")},
		},
	}, l, catalog)
	if err != nil {
		b.Fatal(err)
	}
	// Most of it is used: what is left is not worth a call.
	budget := l.Budget("key spent: tokens in total", limiter.Total{Limit: 10_000})
	if err := l.Inc(context.Background(), []limiter.Charge{{Budget: budget, N: 9_990}}); err != nil {
		b.Fatal(err)
	}
	s, err := proxy.New(proxy.Options{Limiter: l, Estimator: estimator, Log: slog.New(slog.NewJSONHandler(new(thrownAway), nil))}, policy)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// thrownAway takes an answer and forgets it.
type thrownAway struct {
	header http.Header
	status int
}

func (t *thrownAway) Header() http.Header              { return t.header }
func (t *thrownAway) Write(p []byte) (int, error)      { return len(p), nil }
func (t *thrownAway) WriteHeader(status int)           { t.status = status }
func (t *thrownAway) Flush()                           {}
func (t *thrownAway) SetReadDeadline(time.Time) error  { return nil }
func (t *thrownAway) SetWriteDeadline(time.Time) error { return nil }

// canned is a network whose every connection answers each request, written at once, with the same text.
type canned struct{ answer string }

func (c *canned) dial(context.Context, string, string) (net.Conn, error) {
	l := &cannedLine{answer: c.answer}
	l.more.L = &l.mu
	return l, nil
}

type cannedLine struct {
	net.Conn
	answer string
	mu     sync.Mutex
	more   sync.Cond
	left   string // guarded by mu
	closed bool   // guarded by mu
}

func (l *cannedLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = l.answer
	l.more.Signal()
	return len(p), nil
}

func (l *cannedLine) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.left == "" && !l.closed {
		l.more.Wait()
	}
	if l.closed {
		return 0, net.ErrClosed
	}
	n := copy(p, l.left)
	l.left = l.left[n:]
	return n, nil
}

func (l *cannedLine) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.more.Broadcast()
	return nil
}

func (l *cannedLine) SetDeadline(time.Time) error { return nil }
