package main

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

const (
	turnedAway   = 64              // connections that are told at one time that there are too many
	turnedIn     = 2 * time.Second // for each of them to ask and to be told
	besides      = 64              // files that are open besides connections: the ledger, the log, the admin listener's
	fewest       = 16              // connections that are served however few files may be open
	crowdedEvery = time.Minute     // between two lines of the log about it
)

// connections is how many connections are served at one time by a process that may have so many files open: each may need one more,
// to its upstream. It is also how many there are to be to all upstreams, with those that no call uses.
func connections(files uint64) int64 {
	return max(fewest, (int64(min(files, 1<<40))-turnedAway-besides)/2)
}

// crowd is a listener that takes only so many connections at one time, so that files for them and for their upstreams never run out. Who
// comes while there are so many is answered 503, and let go. It is safe for concurrent use.
type crowd struct {
	net.Listener
	most  int64
	open  atomic.Int64
	calls atomic.Int64 // a connection of HTTP/2 has many
	log   *slog.Logger
	count prometheus.Counter

	refuser *http.Server
	turned  chan net.Conn // to the refuser
	places  chan struct{} // one for each that it has; who finds none waits until the system's queue is read again
	closed  chan struct{}
	once    sync.Once

	mu     sync.Mutex
	logged time.Time // guarded by mu
}

// newCrowd bounds a listener. Its refuser speaks TLS where there is a configuration for it.
func newCrowd(l net.Listener, most int64, secure *tls.Config, log *slog.Logger, registry prometheus.Registerer) *crowd {
	c := &crowd{
		Listener: l, most: most, log: log,
		turned: make(chan net.Conn), places: make(chan struct{}, turnedAway), closed: make(chan struct{}),
	}
	c.count = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "tokenfare_crowded_out_total", Help: "Connections and calls that were answered 503 because there were too many at one time.",
	})
	registry.MustRegister(c.count)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok\n")) }) //nolint:errcheck // a probe that left has its answer
	mux.HandleFunc("/", crowded)
	c.refuser = &http.Server{
		Handler: mux, ReadTimeout: turnedIn, WriteTimeout: turnedIn, MaxHeaderBytes: 16 << 10,
		TLSConfig: secure, Protocols: new(http.Protocols), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0),
	}
	c.refuser.Protocols.SetHTTP1(true)
	c.refuser.SetKeepAlivesEnabled(false)
	go c.refuse(secure != nil)
	return c
}

func (c *crowd) refuse(secure bool) {
	aside := turnstile{c}
	if secure {
		_ = c.refuser.ServeTLS(aside, "", "") // it ends with the listener
		return
	}
	_ = c.refuser.Serve(aside)
}

// Accept returns the next connection that is served.
func (c *crowd) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c.open.Add(1) <= c.most {
			return &guest{Conn: conn, leave: func() { c.open.Add(-1) }}, nil
		}
		c.open.Add(-1)
		c.note()
		select {
		case c.places <- struct{}{}:
		case <-c.closed:
			conn.Close()
			return nil, net.ErrClosed
		}
		select {
		case c.turned <- &guest{Conn: conn, leave: func() { <-c.places }}:
		case <-c.closed:
			conn.Close()
			return nil, net.ErrClosed
		}
	}
}

// Close ends both what is served and what is refused.
func (c *crowd) Close() error {
	c.once.Do(func() { close(c.closed) })
	_ = c.refuser.Close()
	return c.Listener.Close()
}

// lead serves as many calls at one time as connections.
func (c *crowd) lead(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer c.calls.Add(-1)
		if c.calls.Add(1) > c.most {
			c.note()
			crowded(w, r)
			return
		}
		if !r.ProtoAtLeast(1, 1) {
			untilItsEnd(next, w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// note counts one that is refused, and says so in the log now and then.
func (c *crowd) note() {
	c.count.Inc()
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.logged) >= crowdedEvery {
		c.logged = time.Now()
		c.log.Error("too many connections", "most", c.most, "then", "more are answered 503; raise the number of open files (ulimit -n, LimitNOFILE), or run more of these")
	}
}

func crowded(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Retry-After", "2")
	h.Set("Connection", "close")
	w.WriteHeader(http.StatusServiceUnavailable)
	w.Write((&wire.Error{ //nolint:errcheck // a client that does not read its error has left
		Type: "server_error", Code: "server_busy", Message: "This proxy has as many connections as it can serve at one time. Try again in a moment.",
	}).JSON())
}

// turnstile is where those come in that are only told.
type turnstile struct{ *crowd }

func (t turnstile) Accept() (net.Conn, error) {
	select {
	case conn := <-t.turned:
		return conn, nil
	case <-t.closed:
		return nil, net.ErrClosed
	}
}

func (t turnstile) Close() error { return nil } // the crowd is closed by who serves it
