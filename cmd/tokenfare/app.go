package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"log" //nolint:depguard // http.Server wants one of its loggers
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/notify"
)

// afterDrain is how long calls that were cut at the end of the drain have to be settled.
const afterDrain = 5 * time.Second

// app is the running program: the proxy and its listeners.
type app struct {
	config   *Config
	log      *slog.Logger
	limiter  *limiter.Memory
	restorer *proxy.Restorer
	registry *prometheus.Registry
	server   *proxy.Server
	books    *books     // nil: nothing is recorded
	corrects *corrector // likewise
	notifier *notify.Notifier
	reloads  *prometheus.CounterVec    // by result: ok or refused
	reload   *reloader                 // nil: nothing to read again
	ready    func(proxy, admin string) // called once both listen; may be nil
}

func newRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// run listens, serves until ctx ends or a signal comes, then drains. It returns nil after an orderly end.
func (a *app) run(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	if a.reload != nil {
		signal.Notify(a.reload.hangup, syscall.SIGHUP) // for good: unhandled, it would end the process in the middle of its drain
	}
	main, admin, err := a.listen()
	if err != nil {
		return errors.Join(err, a.books.close())
	}
	return a.runOn(ctx, stop, main, admin)
}

// runOn is run once there are listeners. It calls stop before it drains.
func (a *app) runOn(ctx context.Context, stop func(), main, admin listening) error {
	a.books.run(ctx)
	stopTelling := a.tell(ctx)
	err := a.serve(ctx, main, admin)
	if err == nil {
		stop() // a second signal kills as usual
		a.drain(context.WithoutCancel(ctx), main.server)
		admin.server.Close()
	}
	stopTelling()
	return errors.Join(err, a.books.close()) // what was spent was spent
}

// serve serves until ctx ends, which is no error.
func (a *app) serve(ctx context.Context, main, admin listening) error {
	failed := make(chan error, 2)
	go func() { failed <- a.serveMain(main) }()
	go func() { failed <- admin.server.Serve(admin.listener) }()
	a.log.Info("listening", "listener", "proxy", "addr", main.listener.Addr().String(), "tls", a.config.TLS != nil)
	a.log.Info("listening", "listener", "admin", "addr", admin.listener.Addr().String())
	if a.ready != nil {
		a.ready(main.listener.Addr().String(), admin.listener.Addr().String())
	}
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
func (a *app) drain(ctx context.Context, server *http.Server) {
	a.server.Drain()
	a.log.Info("draining", "delay", a.config.Timeouts.ShutdownDelay.String(), "at_most", a.config.Timeouts.Drain.String())
	<-time.After(a.config.Timeouts.ShutdownDelay)
	draining, cancel := context.WithTimeout(ctx, a.config.Timeouts.Drain)
	defer cancel()
	if err := server.Shutdown(draining); err != nil {
		a.log.Warn("drain time is over; cutting the calls that still run")
		server.Close()
	}
	settled, cancelSettled := context.WithTimeout(ctx, afterDrain)
	defer cancelSettled()
	if err := a.server.Wait(settled); err != nil {
		a.log.Error("calls were still unsettled at exit")
	}
	a.log.Info("stopped")
}

// listening is a server and where it listens.
type listening struct {
	server   *http.Server
	listener net.Listener
}

func (a *app) listen() (main, admin listening, err error) {
	main.server = a.httpServer(a.server)
	if a.config.TLS != nil {
		certificate, err := newCertificate(a.config.TLS.Cert, a.config.TLS.Key)
		if err != nil {
			return main, admin, err
		}
		main.server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate.get}
	}
	admin.server = a.httpServer(a.adminHandler())
	admin.server.ReadTimeout = a.config.Timeouts.RequestHeader // bodies there are small
	if main.listener, err = net.Listen("tcp", a.config.Listen); err != nil {
		return main, admin, listenError("listen", a.config.Listen, err)
	}
	if admin.listener, err = net.Listen("tcp", a.config.Admin.Listen); err != nil {
		main.listener.Close()
		return main, admin, listenError("admin.listen", a.config.Admin.Listen, err)
	}
	return main, admin, nil
}

func listenError(setting, address string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s: %s is in use by another program; stop it or choose another port", setting, address)
	}
	return fmt.Errorf("%s: %w", setting, err)
}

func (a *app) httpServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: a.config.Timeouts.RequestHeader,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(acceptErrors{a.log}, "", 0),
	}
}

// adminHandler serves what operators look at, on a listener of its own.
func (a *app) adminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", guard(a.config.Admin.Token, promhttp.HandlerFor(a.registry, promhttp.HandlerOpts{})))
	mux.Handle("GET /open", guard(a.config.Admin.Token, listOpen(a.server)))
	mux.Handle("GET /budgets", guard(a.config.Admin.Token, a.listBudgets()))
	mux.Handle("POST /ledger/corrections", protect(a.config.Admin.Token, http.HandlerFunc(a.postCorrections)))
	mux.Handle("GET /healthz", a.server)
	mux.Handle("GET /readyz", a.server)
	return mux
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

// acceptErrors logs that connections cannot be accepted, as when file descriptors run out. What else net/http has to say may
// quote what clients send.
type acceptErrors struct{ log *slog.Logger }

func (a acceptErrors) Write(line []byte) (int, error) {
	if bytes.HasPrefix(line, []byte("http: Accept error")) {
		a.log.Error("cannot accept connections", "error", strings.TrimSpace(string(line)))
	}
	return len(line), nil
}
