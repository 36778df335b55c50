package upstream

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"syscall"
)

// Files bounds how many connections a process has to all of its upstreams, so that those that wait for another call do not take the
// files that a call, a client or the ledger needs: they are closed where there are too many. A connection that a call needs is never
// refused, as calls are bounded elsewhere. It is safe for concurrent use.
type Files struct {
	most int64

	mu   sync.Mutex
	open int64               // guarded by mu; with those that are being opened
	of   map[*Upstream]int64 // guarded by mu; whose they are; those who have none are not in it
}

// NewFiles makes a bound for upstreams that are to have at most so many connections together.
func NewFiles(most int64) *Files { return &Files{most: most, of: map[*Upstream]int64{}} }

// dialFunc opens connections, as that of net.Dialer.
type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// dialler is dial for one upstream, within the bound.
func (f *Files) dialler(u *Upstream, dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if !f.take(u) {
			f.closeIdle()
		}
		raw, err := dial(ctx, network, address)
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) { // other programs may have them, or other parts of this one
			f.closeIdle()
			raw, err = dial(ctx, network, address)
		}
		if err != nil {
			f.give(u)
			return nil, err
		}
		return &counted{Conn: raw, closed: func() { f.give(u) }}, nil
	}
}

// take counts one more connection of an upstream, and reports whether that is not too many.
func (f *Files) take(u *Upstream) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open++
	f.of[u]++
	return f.open <= f.most
}

func (f *Files) give(u *Upstream) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open--
	if f.of[u]--; f.of[u] == 0 {
		delete(f.of, u)
	}
}

// closeIdle closes what no call is using. All of it: which of them will be missed nobody knows, and then there is peace for a while.
func (f *Files) closeIdle() {
	f.mu.Lock()
	all := slices.Collect(maps.Keys(f.of))
	f.mu.Unlock()
	for _, u := range all {
		u.CloseIdle()
	}
}

// counted is a connection that says when it closes.
type counted struct {
	net.Conn
	once   sync.Once
	closed func()
}

func (c *counted) Close() error {
	defer c.once.Do(c.closed)
	return c.Conn.Close()
}

// SyscallConn returns what is below it, if that is a socket.
func (c *counted) SyscallConn() (syscall.RawConn, error) {
	if s, ok := c.Conn.(syscall.Conn); ok {
		return s.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}
