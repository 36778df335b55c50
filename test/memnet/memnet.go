// Package memnet is a network in memory. In a synctest bubble real sockets never become idle, so that time would stand still
// there; connections of this network do.
package memnet

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall"
)

// Network is where listeners are found by their addresses. It is safe for concurrent use.
type Network struct {
	mu    sync.Mutex
	lines map[string]*line
}

// New makes an empty network.
func New() *Network { return &Network{lines: map[string]*line{}} }

// Listen takes an address, any text. It panics if somebody listens there already.
func (n *Network) Listen(address string) net.Listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lines[address] != nil {
		panic("BUG: somebody listens at " + address + " already")
	}
	l := &line{network: n, address: address, calls: make(chan net.Conn), closed: make(chan struct{})}
	n.lines[address] = l
	return l
}

// Dial connects to whoever listens at an address, once that accepts. Nothing is held between the two ends: who writes waits
// until the other reads.
func (n *Network) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	l := n.lines[address]
	n.mu.Unlock()
	if l == nil {
		return nil, fmt.Errorf("dial %s: %w", address, syscall.ECONNREFUSED)
	}
	ours, theirs := net.Pipe()
	select {
	case l.calls <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, fmt.Errorf("dial %s: %w", address, syscall.ECONNREFUSED)
	case <-ctx.Done():
		return nil, fmt.Errorf("dial %s: %w", address, ctx.Err())
	}
}

// line is a listener.
type line struct {
	network *Network
	address string
	calls   chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

func (l *line) Accept() (net.Conn, error) {
	select {
	case c := <-l.calls:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *line) Close() error {
	l.once.Do(func() {
		l.network.mu.Lock()
		delete(l.network.lines, l.address)
		l.network.mu.Unlock()
		close(l.closed)
	})
	return nil
}

func (l *line) Addr() net.Addr { return name(l.address) }

type name string

func (name) Network() string  { return "memory" }
func (n name) String() string { return string(n) }
