package notify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/limit"
	"github.com/tokenfare/tokenfare/proxy/notify"
)

const webhook = "https://hooks.example.com/services/T0000/B0000/the-secret-token"

// room is a channel people are told in, the budgets they are told of, and what is between them.
type room struct {
	t        *testing.T
	notifier *notify.Notifier
	registry *prometheus.Registry
	log      bytes.Buffer // for after the bubble's goroutines have come to rest
	stop     context.CancelFunc

	mu       sync.Mutex
	quotas   []proxy.Quota                                 // guarded by mu
	kept     []ledger.Notice                               // guarded by mu
	past     []ledger.Notice                               // guarded by mu; kept by others
	noLedger error                                         // guarded by mu; why the ledger cannot be read
	heard    []string                                      // guarded by mu; texts that were taken
	tries    []time.Duration                               // guarded by mu; when somebody tried to tell, since the beginning
	answer   func(r *http.Request) (*http.Response, error) // guarded by mu; nil: 200
	began    time.Time
}

// newRoom runs a Notifier in a synctest bubble.
func newRoom(t *testing.T, past ...ledger.Notice) *room {
	t.Helper()
	r := &room{t: t, registry: prometheus.NewRegistry(), past: past, began: time.Now()}
	n, err := notify.New(notify.Options{Quotas: r, Ledger: r, Registry: r.registry, Transport: r, Log: slog.New(slog.NewTextHandler(&r.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	r.notifier = n
	n.Set(notify.Settings{URL: webhook, At: []int64{80, 100}})
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	t.Cleanup(stop)
	go func() {
		if err := n.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	}()
	return r
}

// Quotas implements notify.Quotas.
func (r *room) Quotas(_ context.Context, percent int64) ([]proxy.Quota, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []proxy.Quota
	for _, q := range r.quotas {
		if q.Percent >= percent {
			list = append(list, q)
		}
	}
	return list, nil
}

// Told implements notify.Ledger.
func (r *room) Told(context.Context) ([]ledger.Notice, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.past), r.noLedger
}

// Tell implements notify.Ledger.
func (r *room) Tell(n ledger.Notice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = append(r.kept, n)
}

// RoundTrip implements http.RoundTripper.
func (r *room) RoundTrip(request *http.Request) (*http.Response, error) {
	r.mu.Lock()
	answer := r.answer
	r.tries = append(r.tries, time.Since(r.began))
	r.mu.Unlock()
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	resp, err := reply(200), error(nil)
	if answer != nil {
		resp, err = answer(request)
	}
	if err == nil && resp.StatusCode == 200 {
		var message struct{ Text string }
		if err := json.Unmarshal(body, &message); err != nil {
			r.t.Errorf("posted %q: %v", body, err)
		}
		r.mu.Lock()
		r.heard = append(r.heard, message.Text)
		r.mu.Unlock()
	}
	return resp, err
}

func reply(status int) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("ok"))}
}

func (r *room) answers(f func(*http.Request) (*http.Response, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

func (r *room) down() {
	r.answers(func(*http.Request) (*http.Response, error) { return reply(500), nil })
}
func (r *room) up() { r.answers(nil) }

// uses says how much of alice's month, and of whatever else is named, is used.
func (r *room) uses(quotas ...proxy.Quota) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.quotas = quotas
}

// hears waits, and compares what was said meanwhile with parts of what should have been.
func (r *room) hears(after time.Duration, want ...string) {
	r.t.Helper()
	time.Sleep(after)
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.heard) != len(want) {
		r.t.Fatalf("heard %q, want %d messages like %q", r.heard, len(want), want)
	}
	for i, w := range want {
		if !strings.Contains(r.heard[i], w) {
			r.t.Errorf("heard %q, want %q in it", r.heard[i], w)
		}
	}
	r.heard = nil
}

// wantKept compares the notices that are kept since it was last asked: budget, end of the period, threshold.
func (r *room) wantKept(want ...string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var got []string
	for _, n := range r.kept {
		period := "never"
		if n.Period != 0 {
			period = time.Unix(n.Period, 0).UTC().Format(time.DateOnly)
		}
		got = append(got, n.Budget+" "+period+" "+n.At)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("what is kept differs (-want +got):\n%s", diff)
	}
	r.kept = nil
}

// firstOf is the end of a period.
func firstOf(m time.Month) time.Time { return time.Date(2000, m, 1, 0, 0, 0, 0, time.UTC) }

// month is a month of a key, of which so much of its $50 is used.
func month(key string, percent int64, ends time.Time) proxy.Quota {
	const dollars = 1_000_000_000
	return proxy.Quota{
		Name: "key " + key + ": dollars each month", Owner: "key " + key, Limit: parse("$50 each month"),
		State: limiter.State{Limit: 50 * dollars, Used: percent * dollars / 2}, Percent: percent, Ends: ends,
	}
}

func parse(sentence string) limit.Limit {
	l, err := limit.Parse(sentence, time.UTC)
	if err != nil {
		panic(err)
	}
	return l
}
