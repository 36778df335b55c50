package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/notify"
)

// afterDrain is how long calls that were cut at the end of the drain have to be settled.
const afterDrain = 5 * time.Second

// app is the running program: the proxy and its listeners.
type app struct {
	config   *Config
	spec     proxy.Spec
	catalog  *cost.Catalog
	log      *slog.Logger
	registry *prometheus.Registry
	outage   *outage // nil: the ledger is open, or nobody has tried to open it

	// Made once the ledger is open.
	limiter  *limiter.Memory
	restorer *proxy.Restorer
	server   *proxy.Server // nil: the ledger is not open yet
	books    *books        // nil: nothing is recorded
	corrects *corrector    // likewise
	notifier *notify.Notifier

	reloads *prometheus.CounterVec    // by result: ok or refused
	reload  *reloader                 // nil: nothing to read again
	ready   func(proxy, admin string) // called once both listen; may be nil
}

func newRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// run listens, serves until ctx ends or a signal comes, then drains. It returns nil after an orderly end. While the ledger cannot
// be opened for a reason that may pass, it listens all the same, and says so to whoever calls.
func (a *app) run(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	if a.reload != nil {
		signal.Notify(a.reload.hangup, syscall.SIGHUP) // for good: unhandled, it would end the process in the middle of its drain
	}
	if a.server == nil {
		if err := a.tryOpen(ctx); err != nil {
			return err
		}
	}
	main, admin, err := a.listen()
	if err != nil {
		return errors.Join(err, a.books.close())
	}
	return a.runOn(ctx, stop, main, admin)
}

// runOn is run once there are listeners. It calls stop before it drains.
func (a *app) runOn(ctx context.Context, stop func(), main, admin listening) error {
	failed := a.accept(main, admin)
	if err := a.await(ctx, failed); a.server == nil {
		main.server.Close()
		admin.server.Close()
		return err
	}
	a.books.run(ctx)
	stopTelling := a.tell(ctx)
	main.door.lead(a.server)
	admin.door.lead(a.adminHandler())
	err := a.serve(ctx, failed)
	if err == nil {
		stop() // a second signal kills as usual
		a.drain(context.WithoutCancel(ctx), main)
		admin.server.Close()
	}
	stopTelling()
	return errors.Join(err, a.books.close()) // what was spent was spent
}

// accept begins to take connections. An error that ends that is sent.
func (a *app) accept(main, admin listening) (failed <-chan error) {
	ended := make(chan error, 2)
	go func() { ended <- a.serveMain(main) }()
	go func() { ended <- admin.server.Serve(admin.listener) }()
	a.log.Info("listening", "listener", "proxy", "addr", main.listener.Addr().String(), "tls", a.config.TLS != nil)
	a.log.Info("listening", "listener", "admin", "addr", admin.listener.Addr().String())
	if a.ready != nil {
		a.ready(main.listener.Addr().String(), admin.listener.Addr().String())
	}
	return ended
}

// serve serves until ctx ends, which is no error.
func (a *app) serve(ctx context.Context, failed <-chan error) error {
	if a.reload != nil {
		reloading, stopReloading := context.WithCancel(ctx)
		defer stopReloading()
		go a.reload.run(reloading)
	}
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-a.books.lost():
		return errors.New("serve: nothing more can be recorded in the ledger; start this program again")
	case <-ctx.Done():
		return nil
	}
}

func (a *app) serveMain(m listening) error {
	if a.config.TLS != nil {
		return m.server.ServeTLS(m.listener, "", "")
	}
	return m.server.Serve(m.listener)
}

// drain says "not ready", waits for load balancers to notice, lets running calls end, and cuts those that take too long.
func (a *app) drain(ctx context.Context, main listening) {
	a.server.Drain()
	main.door.lead(farewell(a.server))
	a.log.Info("draining", "delay", a.config.Timeouts.ShutdownDelay.String(), "at_most", a.config.Timeouts.Drain.String())
	<-time.After(a.config.Timeouts.ShutdownDelay)
	draining, cancel := context.WithTimeout(ctx, a.config.Timeouts.Drain)
	defer cancel()
	if err := main.server.Shutdown(draining); err != nil {
		a.log.Warn("drain time is over; cutting the calls that still run")
		main.server.Close()
	}
	settled, cancelSettled := context.WithTimeout(ctx, afterDrain)
	defer cancelSettled()
	if err := a.server.Wait(settled); err != nil {
		a.log.Error("calls were still unsettled at exit")
	}
	a.log.Info("stopped")
}

// farewell closes connections after the answers of next. Else clients would go on with those they have until the listener closes, and a
// call that is on its way at that moment would get no answer.
func farewell(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		next.ServeHTTP(w, r)
	})
}

// adminHandler serves what operators look at, on a listener of its own.
func (a *app) adminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", guard(a.config.Admin.Token, promhttp.HandlerFor(a.registry, promhttp.HandlerOpts{})))
	mux.Handle("GET /open", guard(a.config.Admin.Token, listOpen(a.server)))
	mux.Handle("GET /budgets", guard(a.config.Admin.Token, a.listBudgets()))
	mux.Handle("POST /ledger/corrections", protect(a.config.Admin.Token, http.HandlerFunc(a.postCorrections)))
	mux.Handle("GET /healthz", noOrigin(a.server))
	mux.Handle("GET /readyz", noOrigin(a.server))
	return mux
}

// noOrigin keeps pages of other origins out, which the configuration may let call the proxy: nothing here is for them.
func noOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Origin")
		next.ServeHTTP(w, r)
	})
}

// guard asks for the token, if there is one.
func guard(token string, next http.Handler) http.Handler {
	if token == "" {
		return next
	}
	want := sha256.Sum256([]byte("Bearer " + token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "send admin.token as Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
