package postgres

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// link is a connection to a server that can be cut, as networks are.
type link struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

// linked returns the URL of a server, by way of a link to it.
func linked(t *testing.T, at string) (string, *link) {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{listener: listener, to: u.Host}
	t.Cleanup(func() {
		listener.Close()
		l.set(true)
	})
	go l.serve()
	u.Host = listener.Addr().String()
	return u.String(), l
}

func (l *link) serve() {
	for {
		in, err := l.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", l.to)
		if err != nil {
			in.Close()
			continue
		}
		l.mu.Lock()
		l.conns = append(l.conns, in, out)
		cut := l.cut
		l.mu.Unlock()
		if cut {
			in.Close()
			out.Close()
		}
		go pipe(in, out)
		go pipe(out, in)
	}
}

func pipe(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// set cuts the link, or mends it.
func (l *link) set(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
	for _, c := range l.conns {
		c.Close()
	}
	l.conns = nil
}
