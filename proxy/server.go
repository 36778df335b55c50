package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// Options are what a [Server] is made of. Limiter and Estimator are required.
type Options struct {
	Limiter      limiter.Limiter
	Estimator    *cost.Estimator
	Ledger       *ledger.Writer        // nil: nothing is recorded; who made it runs it, too
	Registry     prometheus.Registerer // nil: no metrics are exported
	Log          *slog.Logger          // nil: nothing is logged
	MaxBody      int64                 // bytes of one request body; zero means 32 MiB
	MaxBuffered  int64                 // bytes of all request bodies in memory at one time, half of them one caller's at most; more wait for half of BodyTimeout; zero means 80 MiB
	BodyTimeout  time.Duration         // for a body to arrive, besides a second for each 64 KiB; zero means a minute
	StrayTimeout time.Duration         // for a body that nobody wants to read; zero means ten seconds
	IdleTimeout  time.Duration         // between two bytes of an answer, from the upstream or to the client; zero means ten minutes
	DrawTimeout  time.Duration         // for a budget to refill that an answer without an output limit draws on; zero means 30 seconds
}

// Server serves the OpenAI API to callers. It is an http.Handler, safe for concurrent use.
type Server struct {
	options  Options
	policy   atomic.Pointer[Policy] // changed with changing held; read it by current
	changing sync.Mutex
	router   chi.Router
	metrics  *metrics
	ids      *ledger.IDs
	memo     memo
	owners   owners
	listing  turns
	learner  cost.Learner
	room     room
	seats    chan struct{} // one for each long prompt that is being read and counted
	draining atomic.Bool
	inflight sync.WaitGroup
	wall     func() time.Time
}

// New makes a Server that runs policy p.
func New(o Options, p *Policy) (*Server, error) {
	switch {
	case o.Limiter == nil:
		return nil, errors.New("proxy: Options.Limiter is missing")
	case o.Estimator == nil:
		return nil, errors.New("proxy: Options.Estimator is missing")
	case p == nil:
		return nil, errors.New("proxy: the policy is missing")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Registry == nil {
		o.Registry = prometheus.NewRegistry()
	}
	o.MaxBody = orDefault(o.MaxBody, 32<<20)
	o.MaxBuffered = orDefault(o.MaxBuffered, 80<<20)
	o.BodyTimeout = orDefault(o.BodyTimeout, time.Minute)
	o.StrayTimeout = orDefault(o.StrayTimeout, 10*time.Second)
	o.IdleTimeout = orDefault(o.IdleTimeout, 10*time.Minute)
	o.DrawTimeout = orDefault(o.DrawTimeout, 30*time.Second)
	s := &Server{options: o, wall: time.Now, seats: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
	s.room.most, s.room.ofOne = o.MaxBuffered, max(o.MaxBuffered/2, o.MaxBody+1)
	s.owners.writer = o.Ledger
	if o.Ledger != nil {
		s.ids = o.Ledger.IDs()
	} else {
		s.ids = ledger.NewIDs(rand.IntN(ledger.Slots), 0) // so that ids of several servers differ
	}
	m, err := newMetrics(s, o.Registry)
	if err != nil {
		return nil, fmt.Errorf("proxy: register metrics: %w", err)
	}
	s.metrics = m
	s.router = s.routes()
	s.SetPolicy(p)
	return s, nil
}

func orDefault[T int64 | time.Duration](v, whenZero T) T {
	if v == 0 {
		return whenZero
	}
	return v
}

// SetPolicy makes p the policy of all requests that begin from now on.
func (s *Server) SetPolicy(p *Policy) {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.metrics.bind(p)
	if old := s.policy.Load(); old != nil && old != p {
		for name, u := range p.upstreams {
			if before := old.upstreams[name]; before != nil {
				u.Inherit(before.Upstream)
			}
		}
	}
	p.enforce(s.options.Limiter) // again: a date of the old one may have passed since it was compiled, and brought back an old rule
	old := s.policy.Swap(p)
	s.memo.clear() // what a request is estimated at may depend on the policy
	if old != nil && old != p {
		for _, u := range old.upstreams {
			u.CloseIdle()
		}
	}
}

// ServeHTTP serves one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.router.ServeHTTP(w, r) }

// routes is the allow list: one exact path and method for each endpoint that can be metered. Middleware, outermost first:
// record (id, log line, metrics), recover, auth.
func (s *Server) routes() chi.Router {
	r := chi.NewRouter()
	r.Use(boundStray(s.options.StrayTimeout), s.crossOrigin)
	r.Get("/healthz", health)
	r.Get("/readyz", s.ready)
	r.Group(func(r chi.Router) {
		r.Use(s.keepRecord, s.recover)
		r.NotFound(s.handle(notFound).ServeHTTP)
		r.MethodNotAllowed(s.handle(wrongMethod).ServeHTTP)
		r.Group(func(r chi.Router) {
			r.Use(s.auth)
			for _, e := range wire.Endpoints() {
				r.Method(http.MethodPost, string(e), s.handle(s.metered(e)))
			}
			r.Method(http.MethodGet, "/v1/models", s.handle(s.listModels))
			r.Method(http.MethodGet, "/v1/models/*", s.handle(s.getModel))
			r.Method(http.MethodGet, "/v1/usage", s.handle(s.usage))
			s.storedRoutes(r)
		})
	})
	return r
}

// boundStray gives bodies a short time to arrive. Who wants to read one gives it more; without this, a request whose body
// never comes would hold its connection for ever, for net/http waits for it after the answer.
func boundStray(timeout time.Duration) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength != 0 {
				_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(timeout))
			}
			next.ServeHTTP(w, r)
		})
	}
}

// metered is the walk of one call: admit, forward, settle. Whatever happens on the way, end settles it before the handler returns.
func (s *Server) metered(e wire.Endpoint) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		x := s.begin(e, r)
		defer x.close()
		if err := s.admit(x, w, r); err != nil {
			return err
		}
		return s.forward(x, w, r)
	}
}

// recover turns a panic into an answer and a log line; the other calls go on.
func (s *Server) recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so, too
				breakOff(recordOf(r), r)
				panic(p) // breaks the client's transfer: it must see that the answer is not whole
			}
			s.metrics.panics.Inc()
			rec := recordOf(r)
			s.options.Log.Error("panic", "id", rec.id.String(), "panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			if rec.status != 0 {
				breakOff(rec, r)
				panic(http.ErrAbortHandler)
			}
			s.writeError(w, r, &wire.Error{
				Status: http.StatusInternalServerError, Type: "server_error", Code: "internal_error",
				Message: "This proxy failed to handle the request; its log has the cause under request id " + rec.id.String() + ".",
			})
		}()
		next.ServeHTTP(w, r)
	})
}

// Drain makes readiness probes fail from now on; requests are still served.
func (s *Server) Drain() { s.draining.Store(true) }

// Wait returns when every request has been settled and logged, or with ctx's error. It is for after the listener has closed.
func (s *Server) Wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		s.inflight.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// health says that the process serves. What a restart would not help against is left to ready.
func health(w http.ResponseWriter, _ *http.Request) {
	w.Write([]byte("ok\n")) //nolint:errcheck // a probe that left has its answer
}

// ready says whether new calls are taken. It gives no cause, which may name hosts and files: nobody is asked for a key here.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	switch {
	case s.draining.Load():
		http.Error(w, "draining", http.StatusServiceUnavailable)
	case s.options.Ledger != nil && s.options.Ledger.Admit() != nil:
		noLedger(w, nil)
	default:
		w.Write([]byte("ready\n")) //nolint:errcheck // a probe that left has its answer
	}
}

// wallTime is the time of day after d has passed.
func (s *Server) wallTime(d time.Duration) time.Time { return s.wall().Add(d) }
