package main

import (
	"net/http"
	"time"
)

const (
	lastWords    = 5 * time.Second // how long a client may take to receive what was written before its connection is reset
	lookAtLeast  = time.Millisecond
	lookAtLatest = 50 * time.Millisecond
)

// Break resets the connection. What the system still holds then is lost, and the client has paid for it: it is waited for until the
// client's system has acknowledged all of it, for as long as lastWords. What has arrived, a client can read before it learns of the reset on
// most systems, but not on all; nothing can be done about that from here. A TLS connection above this one sends no close_notify any more.
func (g *guest) Break() {
	until := time.Now().Add(lastWords)
	for wait := lookAtLeast; unsent(g.Conn) > 0 && time.Now().Before(until); wait = min(2*wait, lookAtLatest) {
		<-time.After(wait)
	}
	if g.resets() {
		g.Close()
	}
}

// resets has the connection reset when it is closed, and reports whether it will be.
func (g *guest) resets() bool {
	c, ok := g.Conn.(interface{ SetLinger(int) error })
	return ok && c.SetLinger(0) == nil
}

type guestKey struct{}

// untilItsEnd serves a call of HTTP/1.0, of whose answer the end is the connection's: it is reset if it is closed before, whoever does that.
// Only TLS says by itself, by its close_notify, that it was closed in order, before the guest can know.
func untilItsEnd(next http.Handler, w http.ResponseWriter, r *http.Request) {
	if g, ok := r.Context().Value(guestKey{}).(*guest); ok {
		g.half.Store(true)
		defer g.half.Store(false) // what panics has broken it, if it was to be
	}
	next.ServeHTTP(w, r)
}
