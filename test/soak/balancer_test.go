package soak

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/test/harness"
)

// balancer is what stands in front of several programs: it takes connections to those whose /readyz says yes, in turn.
type balancer struct {
	address string
	turn    atomic.Int64

	mu       sync.Mutex
	programs []*harness.Program
	ready    []string // addresses
}

// balance starts a balancer, which asks the programs every few milliseconds whether they are ready.
func balance(t *testing.T, programs ...*harness.Program) *balancer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{address: l.Addr().String(), programs: programs}
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	t.Cleanup(func() {
		stop()
		l.Close()
		all.Wait()
	})
	b.look(ctx)
	all.Go(func() {
		for ctx.Err() == nil {
			b.look(ctx)
			pause(ctx, 20*time.Millisecond)
		}
	})
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go b.join(c)
		}
	})
	return b
}

// add makes one more program known.
func (b *balancer) add(p *harness.Program) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.programs = append(b.programs, p)
}

// knows reports whether just these programs are ready.
func (b *balancer) knows(programs ...*harness.Program) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.EqualFunc(b.ready, programs, func(address string, p *harness.Program) bool { return "http://"+address == p.URL })
}

// look asks who is ready.
func (b *balancer) look(ctx context.Context) {
	b.mu.Lock()
	programs := b.programs
	b.mu.Unlock()
	var ready []string
	for _, p := range programs {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.Admin+"/readyz", nil)
		if err != nil {
			panic(err) // the address is the harness's
		}
		resp, err := p.HTTP.Do(r)
		if err != nil {
			continue
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			ready = append(ready, strings.TrimPrefix(p.URL, "http://"))
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ready = ready
}

// dial connects to a program that is ready, or to the next, if it is no more; nil if there is none.
func (b *balancer) dial() net.Conn {
	b.mu.Lock()
	ready := b.ready
	b.mu.Unlock()
	for range ready {
		if to, err := net.Dial("tcp", ready[int(b.turn.Add(1))%len(ready)]); err == nil {
			return to
		}
	}
	return nil
}

// join takes a connection to a program, and carries bytes both ways until both sides have ended.
func (b *balancer) join(from net.Conn) {
	defer from.Close()
	to := b.dial()
	if to == nil {
		return
	}
	defer to.Close()
	carry := func(to, from net.Conn) {
		io.Copy(to, from)
		to.(*net.TCPConn).CloseWrite()
	}
	back := make(chan struct{})
	go func() {
		defer close(back)
		carry(from, to)
	}()
	carry(to, from)
	<-back
}
