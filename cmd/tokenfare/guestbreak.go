package main

import "time"

const (
	lastWords    = 5 * time.Second // how long a client may take to receive what was written before its connection is reset
	lookAtLeast  = time.Millisecond
	lookAtLatest = 50 * time.Millisecond
)

// Break resets the connection. What the system still holds then is lost, and the client has paid for it: it is waited for until the
// client's system has acknowledged all of it, for as long as lastWords. What has arrived, a client can read before it learns of the reset on
// most systems, but not on all; nothing can be done about that from here. A TLS connection above this one sends no close_notify any more.
func (g *guest) Break() {
	c, ok := g.Conn.(interface{ SetLinger(int) error })
	if !ok {
		return
	}
	until := time.Now().Add(lastWords)
	for wait := lookAtLeast; unsent(g.Conn) > 0 && time.Now().Before(until); wait = min(2*wait, lookAtLatest) {
		<-time.After(wait)
	}
	if c.SetLinger(0) == nil {
		g.Close()
	}
}
