package main

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
)

// guest is a connection that says when it closes, and while a call waits, that its client has closed it. net/http notices that by itself
// as long as nothing comes behind the request: it reads a byte, and whoever sent one more was thought to be there for twenty minutes.
type guest struct {
	net.Conn
	once  sync.Once
	leave func()

	reading atomic.Bool // somebody waits for a byte, and will see the end
	busy    atomic.Bool // a call wants to know
	half    atomic.Bool // an answer is under way whose end is the connection's

	mu    sync.Mutex
	left  context.CancelCauseFunc // guarded by mu; nil: no call wants to know
	gone  bool                    // guarded by mu; the client has hung up
	timer *time.Timer             // guarded by mu; nil: nothing came behind a request so far
}

// lookEvery is how often a connection is looked at that is not read.
const lookEvery = 50 * time.Millisecond

func (g *guest) Read(p []byte) (int, error) {
	g.reading.Store(true)
	n, err := g.Conn.Read(p)
	g.reading.Store(false)
	if n > 0 && g.busy.Load() {
		g.watch()
	}
	return n, err
}

// During has left called if the client hangs up before Over.
func (g *guest) During(left context.CancelCauseFunc) {
	g.mu.Lock()
	g.left = left
	gone := g.gone
	g.mu.Unlock()
	if gone {
		left(context.Canceled)
		return
	}
	g.busy.Store(true)
	if !g.reading.Load() { // it came before this, or the server has not yet begun to read
		g.watch()
	}
}

// Left reports whether the client has hung up.
func (g *guest) Left() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.gone
}

// Over ends what During has begun.
func (g *guest) Over() {
	g.busy.Store(false)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left = nil
	if g.timer != nil {
		g.timer.Stop()
	}
}

// watch looks at the connection in a while.
func (g *guest) watch() {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.left == nil:
	case g.timer == nil:
		g.timer = time.AfterFunc(lookEvery, g.look)
	default:
		g.timer.Reset(lookEvery)
	}
}

// look looks whether the client has hung up, and if not, does so again.
func (g *guest) look() {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.left == nil || g.reading.Load():
	case hungUp(g.Conn):
		g.gone = true
		g.left(context.Canceled)
	default:
		g.timer.Reset(lookEvery)
	}
}

func (g *guest) Close() error {
	defer g.once.Do(g.leave)
	if g.half.Load() { // as the server closes all there are when the time to drain is over
		g.resets()
	}
	return g.Conn.Close()
}

// CloseWrite lets the server end its own side first, so that the client can read all of an answer.
func (g *guest) CloseWrite() error {
	if c, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

// SyscallConn is what the connection is to the system.
func (g *guest) SyscallConn() (syscall.RawConn, error) {
	if c, ok := g.Conn.(syscall.Conn); ok {
		return c.SyscallConn()
	}
	return nil, syscall.ENOTSUP
}

// guestOf is the context of the calls that come in on a connection of a crowd.
func guestOf(ctx context.Context, c net.Conn) context.Context {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	if g, ok := c.(*guest); ok {
		return context.WithValue(proxy.WithConnection(ctx, g), guestKey{}, g)
	}
	return ctx
}
