package proxy_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/wire"
	"github.com/tokenfare/tokenfare/test/memnet"
)

// virtual is a proxy with a ledger, its upstream and its clients, in a bubble: time passes only while all of them wait.
type virtual struct {
	t        *testing.T
	server   *proxy.Server
	limiter  *limiter.Memory
	registry *prometheus.Registry
	log      *lockedBuffer
	store    *heldStore
	durable  ledger.Store   // that is written to
	writer   *ledger.Writer // nil: nothing is recorded
	network  *memnet.Network
	dial     func(ctx context.Context, network, address string) (net.Conn, error)

	mu    sync.Mutex
	asked []*http.Request // what the upstream got, bodies in place; guarded by mu
}

// settings are what a test may change before the proxy is made.
type settings struct {
	options proxy.Options
	ledger  ledger.Options
	without bool                                                                 // nothing is recorded
	durable ledger.Store                                                         // what is written to; nil: the held one
	dial    func(ctx context.Context, network, address string) (net.Conn, error) // by the proxy; nil: to the upstream
	front   func(http.Handler) http.Handler                                      // before the proxy; nil: nothing
}

// inBubble tells a story in a bubble. Vocabularies are read before: that takes real time.
func inBubble(t *testing.T, story func(t *testing.T)) {
	t.Helper()
	for _, encoding := range []string{"o200k_base", "cl100k_base"} {
		if err := estimator.Load(encoding); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, story)
}

// newVirtual makes the proxy in the current bubble. Missing parts of spec are filled in: key alice, every model to the one
// upstream.
func newVirtual(t *testing.T, spec proxy.Spec, upstream http.HandlerFunc, edit ...func(*settings)) *virtual {
	t.Helper()
	v := &virtual{
		t: t, limiter: limiter.NewMemory(), registry: prometheus.NewRegistry(), log: &lockedBuffer{}, network: memnet.New(),
		store: &heldStore{durable: map[ledger.ID]time.Time{}, refused: map[ledger.Refusal]int64{}, prices: map[string]string{}},
	}
	var s settings
	s.options = proxy.Options{Limiter: v.limiter, Estimator: estimator, Registry: v.registry, Log: slog.New(slog.NewJSONHandler(v.log, nil))}
	s.ledger.Log = s.options.Log
	for _, e := range edit {
		e(&s)
	}
	if v.durable = s.durable; v.durable == nil {
		v.durable = v.store
	}
	if !s.without {
		v.record(s.ledger)
		s.options.Ledger = v.writer
	}
	if v.dial = s.dial; v.dial == nil {
		v.dial = v.network.Dial
	}
	var err error
	if v.server, err = proxy.New(s.options, v.policy(spec)); err != nil {
		t.Fatal(err)
	}
	var front http.Handler = v.server
	if s.front != nil {
		front = s.front(front)
	}
	v.serve("proxy:80", front)
	v.serve("upstream:80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the proxy gave up
		}
		kept := r.Clone(r.Context())
		kept.Body = io.NopCloser(bytes.NewReader(body))
		v.mu.Lock()
		v.asked = append(v.asked, kept)
		v.mu.Unlock()
		upstream(w, r)
	}))
	time.Sleep(10 * time.Millisecond) // the writer has looked for work, and rests
	return v
}

// record runs a writer on the store until the test ends.
func (v *virtual) record(o ledger.Options) {
	v.t.Helper()
	w, _, err := ledger.Open(v.t.Context(), v.durable, o)
	if err != nil {
		v.t.Fatal(err)
	}
	v.writer = w
	running, stop := context.WithCancel(context.WithoutCancel(v.t.Context()))
	ended := make(chan error)
	go func() { ended <- w.Run(running) }()
	v.t.Cleanup(func() {
		v.store.be(0, nil)
		stop()
		if err := <-ended; err != nil {
			v.t.Errorf("the writer ended with %v", err)
		}
		if n := v.limiter.OpenCount(); n != 0 {
			v.t.Errorf("%d reservations are still open at the end", n)
		}
		for _, x := range v.store.rows(v.t) {
			if x.End == nil {
				v.t.Errorf("exchange %v has begun and never ended", x.Begin.Exchange)
			}
		}
		if rows := v.store.rows(v.t); v.store.rolled != int64(len(rows)) {
			v.t.Errorf("%d exchanges are in the sums, and %d have rows", v.store.rolled, len(rows))
		}
	})
}

// policy compiles a spec for upstream:80.
func (v *virtual) policy(spec proxy.Spec) *proxy.Policy {
	v.t.Helper()
	return v.policyOf(spec, v.limiter)
}

func (v *virtual) policyOf(spec proxy.Spec, l *limiter.Memory) *proxy.Policy {
	v.t.Helper()
	if spec.Upstreams == nil {
		spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", Key: "sk-upstream-secret"}}
	}
	for i := range spec.Upstreams {
		spec.Upstreams[i].URL, spec.Upstreams[i].Dial = "http://upstream/v1", v.dial
	}
	if spec.Models == nil {
		spec.Models = []proxy.ModelSpec{{Pattern: "*", Upstream: spec.Upstreams[0].Name}}
	}
	for i := range spec.Keys {
		if spec.Keys[i].Hashes == nil {
			spec.Keys[i].Hashes = [][32]byte{sha256.Sum256([]byte(secret))}
		}
	}
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		v.t.Fatal(err)
	}
	policy, err := proxy.NewPolicy(spec, l, catalog)
	if err != nil {
		v.t.Fatal(err)
	}
	return policy
}

// serve serves until the test ends.
func (v *virtual) serve(address string, h http.Handler) {
	l := v.network.Listen(address)
	server := &http.Server{Handler: h, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	go server.Serve(l)
	v.t.Cleanup(func() { server.Close() })
}

// sent is how many requests the upstream got.
func (v *virtual) sent() []*http.Request {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]*http.Request(nil), v.asked...)
}

// reply is an answer, and when its parts arrived after the request was made.
type reply struct {
	answer
	first, whole time.Duration // of its first byte, the status included, and of its last
}

// chat posts a chat completion as alice, over a connection of its own.
func (v *virtual) chat(body string, header ...string) reply {
	v.t.Helper()
	return v.chatUntil(v.t.Context(), body, header...)
}

// chatUntil is chat by a client that leaves when a context ends.
func (v *virtual) chatUntil(ctx context.Context, body string, header ...string) reply {
	v.t.Helper()
	return v.post(ctx, wire.Chat, body, header...)
}

// post is chatUntil for any endpoint.
func (v *virtual) post(ctx context.Context, e wire.Endpoint, body string, header ...string) (got reply) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://proxy"+string(e), strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	began := time.Now()
	line := &watchedLine{}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := v.network.Dial(ctx, network, address)
		line.Conn = conn
		return line, err
	}}
	defer func() { got.first, got.whole = line.firstAfter(began), time.Since(began) }()
	resp, err := transport.RoundTrip(r)
	if err != nil {
		got.err = err
		return got
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	got.answer = answer{resp.StatusCode, resp.Header, string(text), err}
	return got
}

// watchedLine notes when the first byte came.
type watchedLine struct {
	net.Conn
	mu    sync.Mutex
	first time.Time // guarded by mu
}

func (l *watchedLine) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	if n > 0 && l.first.IsZero() {
		l.first = time.Now()
	}
	return n, err
}

// firstAfter is when the first byte came; never, if none did.
func (l *watchedLine) firstAfter(began time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first.IsZero() {
		return never
	}
	return l.first.Sub(began)
}

const never = time.Duration(1<<63 - 1)

// after is an upstream that thinks before it answers.
func after(d time.Duration, then http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(d):
			then(w, r)
		case <-r.Context().Done():
		}
	}
}

// states are what the budgets have counted, by their names.
func (v *virtual) states() map[string]limiter.State {
	v.t.Helper()
	budgets, err := v.server.Budgets(v.t.Context())
	if err != nil {
		v.t.Fatal(err)
	}
	states := map[string]limiter.State{}
	for _, b := range budgets {
		states[b.Name] = b.State
	}
	return states
}

// metric is the value of a counter or gauge without labels.
func (v *virtual) metric(name string) float64 {
	v.t.Helper()
	return (&house{t: v.t, registry: v.registry}).metric(name)
}
