package upstream_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/tokenfare/tokenfare/proxy/upstream"
	"github.com/tokenfare/tokenfare/test/memnet"
)

// crew are upstreams that share a bound, and their connections.
type crew struct {
	network *memnet.Network
	line    map[string]*line

	mu    sync.Mutex
	open  int   // guarded by mu
	peak  int   // guarded by mu
	fails []any // guarded by mu; errors of the next dials; nil: it succeeds
}

func newCrew(t *testing.T, files *upstream.Files, names ...string) *crew {
	t.Helper()
	c := &crew{network: memnet.New(), line: map[string]*line{}}
	for _, name := range names {
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })}
		go server.Serve(c.network.Listen(name + ":80"))
		u, err := upstream.New(upstream.Options{Name: name, URL: "http://" + name + "/v1", Dial: c.dial, Files: files})
		if err != nil {
			t.Fatal(err)
		}
		c.line[name] = &line{Upstream: u}
		t.Cleanup(func() {
			u.CloseIdle()
			server.Close()
		})
	}
	return c
}

func (c *crew) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.fails) > 0 {
		err := c.fails[0]
		if c.fails = c.fails[1:]; err != nil {
			return nil, err.(error)
		}
	}
	raw, err := c.network.Dial(ctx, network, address)
	if err == nil {
		c.open++
		c.peak = max(c.peak, c.open)
		raw = &watched{Conn: raw, closed: func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.open--
		}}
	}
	return raw, err
}

type watched struct {
	net.Conn
	once   sync.Once
	closed func()
}

func (w *watched) Close() error {
	w.once.Do(w.closed)
	return w.Conn.Close()
}

// atOnce makes calls that need a connection each, and reads them to their ends.
func (c *crew) atOnce(t *testing.T, name string, calls int) {
	t.Helper()
	open := make([]*http.Response, calls)
	for i := range open {
		resp, err := c.line[name].post(t.Context(), "hi")
		if err != nil {
			t.Fatalf("call %d of %s: %v", i, name, err)
		}
		open[i] = resp
	}
	for _, resp := range open {
		whole(t, resp, nil)
	}
}

// Connections that wait for another call are closed where others are needed and there are too many, whoever's they are.
func TestIdleConnectionsOfAllUpstreamsAreBoundedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, upstream.NewFiles(10), "a", "b", "c")
		for range 3 {
			for _, name := range []string{"a", "b", "c"} {
				c.atOnce(t, name, 6)
			}
		}
		if c.peak > 10 {
			t.Errorf("%d connections were open at one time", c.peak)
		}
		c.peak = 0
		c.atOnce(t, "a", 12) // a call is never refused for it
		if c.peak != 12 {
			t.Errorf("%d connections were open at one time", c.peak)
		}
	})
}

// Where files have run out all the same, connections that wait are closed, and it is tried once more.
func TestDiallingWithoutFiles(t *testing.T) {
	none := &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EMFILE)}
	for name, dials := range map[string]struct {
		fails []any
		says  string
	}{
		"once":              {[]any{none}, ""},
		"for the machine":   {[]any{os.NewSyscallError("socket", syscall.ENFILE)}, ""},
		"twice":             {[]any{none, none}, "too many open files"},
		"for other reasons": {[]any{os.NewSyscallError("connect", syscall.ECONNREFUSED), nil}, "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCrew(t, upstream.NewFiles(1000), "a", "b")
				c.atOnce(t, "a", 5)
				c.fails = dials.fails
				resp, err := c.line["b"].post(t.Context(), "hi")
				if err == nil {
					whole(t, resp, err)
				}
				if (err == nil) != (dials.says == "") || err != nil && !strings.Contains(err.Error(), dials.says) {
					t.Errorf("%v, want %q", err, dials.says)
				}
				if closed := c.open <= 1; closed != (name != "for other reasons") {
					t.Errorf("%d connections are open", c.open)
				}
			})
		})
	}
}
