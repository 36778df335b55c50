package upstream

import (
	"sync"
	"time"
)

const (
	idleTimeout = 90 * time.Second // after which an idle connection over TLS is closed
	mostIdle    = 1024             // idle connections to one server

	// plainIdle is that of plain ones. Servers that stand behind them (uvicorn, Node) close theirs after five seconds, and a request
	// that meets that is lost; to open a new one nearby costs next to nothing.
	plainIdle = 4 * time.Second
)

// idleConns are connections that no call uses. It is safe for concurrent use.
type idleConns struct {
	mu    sync.Mutex
	list  []*conn // guarded by mu; the one that was used last at the end
	swept bool    // guarded by mu; a timer runs that will close the old ones
}

// take returns the connection that was used last, or nil.
func (i *idleConns) take() *conn {
	for {
		i.mu.Lock()
		n := len(i.list)
		if n == 0 {
			i.mu.Unlock()
			return nil
		}
		c := i.list[n-1]
		i.list[n-1] = nil
		i.list = i.list[:n-1]
		i.mu.Unlock()
		if c.alive() {
			return c
		}
		c.abort()
	}
}

// put keeps a connection for another call.
func (i *idleConns) put(c *conn) {
	c.used, c.since = true, time.Now()
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.list) >= mostIdle {
		c.abort()
		return
	}
	i.list = append(i.list, c)
	if !i.swept {
		i.swept = true
		time.AfterFunc(plainIdle, i.sweep)
	}
}

// sweep closes connections that nobody has used for long, and comes again as long as there are any.
func (i *idleConns) sweep() {
	now := time.Now()
	i.mu.Lock()
	defer i.mu.Unlock()
	old := 0
	for old < len(i.list) && now.Sub(i.list[old].since) >= plainIdle {
		i.list[old].abort()
		old++
	}
	left := copy(i.list, i.list[old:])
	clear(i.list[left:])
	i.list = i.list[:left]
	if i.swept = left > 0; i.swept {
		time.AfterFunc(plainIdle-now.Sub(i.list[0].since), i.sweep)
	}
}

// closeAll closes all of them.
func (i *idleConns) closeAll() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, c := range i.list {
		c.abort()
	}
	clear(i.list)
	i.list = i.list[:0]
}
