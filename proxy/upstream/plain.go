package upstream

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"time"
)

// plain speaks HTTP/1.1 (RFC 9112) to one server over TCP, one call at a time on each connection. The goroutine that serves a call
// does all of it: net/http's Transport has two for each connection and hands every request and every answer from one to another,
// which costs as much CPU as all the rest of a short call. Answers are read by net/http's own parser. It is safe for concurrent use.
type plain struct {
	dial     func(ctx context.Context, network, address string) (net.Conn, error)
	address  string        // host and port
	patience time.Duration // for an answer's headers
	idle     idleConns
}

// most1xx is how many interim answers are too many before an answer.
const most1xx = 16

var errInterim = errors.New("the upstream sent too many interim answers")

// errStale says that a connection was closed while it was idle: the request did not go out whole, so nobody can have acted on it.
var errStale = errors.New("the upstream closed an idle connection")

func (p *plain) roundTrip(r *http.Request) (*http.Response, error) {
	if c := p.idle.take(); c != nil {
		resp, err := p.call(c, r)
		if !errors.Is(err, errStale) {
			return resp, err
		}
		if r.Body != nil && r.Body != http.NoBody {
			if r.GetBody == nil {
				return nil, &Error{Err: err}
			}
			if r.Body, err = r.GetBody(); err != nil {
				return nil, &Error{Err: err}
			}
		}
		// Not on another idle one: it may be this request that ends them, and each of them is another call's.
	}
	c, err := p.dialled(r.Context())
	if err != nil {
		return nil, &Error{Err: err}
	}
	return p.call(c, r)
}

func (p *plain) closeIdle() { p.idle.closeAll() }

// dialled returns a new connection.
func (p *plain) dialled(ctx context.Context) (*conn, error) {
	raw, err := p.dial(ctx, "tcp", p.address)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, err
	}
	return newConn(raw), nil
}

// call makes one call on a connection, which is its own until the answer has been read or closed.
func (p *plain) call(c *conn, r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	stop := context.AfterFunc(ctx, c.abort)
	_ = c.SetDeadline(time.Now().Add(p.patience)) // a connection without deadlines is some test's
	var sending chan error                        // nil: it has been sent
	var err error
	if r.ContentLength <= atOnce {
		err = c.send(r)
	} else {
		// The upstream may answer before it has read all of it, and may want its answer to be read first.
		sending = make(chan error, 1)
		go func() { sending <- c.send(r) }()
	}
	var resp *http.Response
	if err == nil {
		resp, err = c.receive(r)
	}
	if err != nil {
		stop()
		c.abort()
		if sending != nil {
			<-sending //nolint:errcheck // what it has to say is in c
		}
		switch cause := context.Cause(ctx); {
		case cause != nil:
			err = cause
		case c.used && !c.sent: // of a request that is not whole nothing can come
			return nil, errStale
		}
		return nil, broken(r, err, c.sent)
	}
	_ = c.SetDeadline(time.Time{})
	answer := &answer{conn: c, body: resp.Body, sending: sending, ctx: ctx, stop: stop, pool: &p.idle, closes: resp.Close || resp.StatusCode < 200}
	if resp.Body == http.NoBody {
		answer.finish(true)
	} else {
		resp.Body = answer
	}
	return resp, nil
}

// receive reads the head of the answer to r.
func (c *conn) receive(r *http.Request) (*http.Response, error) {
	c.room = mostHeader
	for range most1xx {
		resp, err := http.ReadResponse(c.r, r)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode/100 != 1 || resp.StatusCode == http.StatusSwitchingProtocols {
			c.room = math.MaxInt64
			return resp, nil
		}
	}
	return nil, errInterim
}

// answer is the body of an answer. Its end gives the connection back; closing it before its end closes the connection, which is how an
// upstream over HTTP/1.1 learns that nobody wants the rest.
type answer struct {
	conn    *conn
	body    io.Reader
	sending chan error
	ctx     context.Context
	stop    func() bool
	pool    *idleConns
	closes  bool // the upstream closes the connection after it
	done    bool
}

func (a *answer) Read(p []byte) (int, error) {
	if a.done {
		return 0, io.EOF
	}
	n, err := a.body.Read(p)
	if err == nil {
		return n, nil
	}
	whole := errors.Is(err, io.EOF)
	a.finish(whole)
	if cause := context.Cause(a.ctx); cause != nil && !whole {
		err = cause
	}
	return n, err
}

// BeforeWaiting has do called before a Read waits for the server, by the goroutine that reads: what was read so far may have to go on
// its way. An error of it ends reading.
func (a *answer) BeforeWaiting(do func() error) {
	if !a.done {
		a.conn.waiting = do
	}
}

func (a *answer) Close() error {
	if !a.done {
		a.finish(false)
	}
	return nil
}

// finish gives the connection back if another call can use it.
func (a *answer) finish(whole bool) {
	a.done = true
	a.conn.waiting = nil
	if !a.stop() || !whole || a.closes || a.conn.unread() {
		a.conn.abort()
		return
	}
	if a.sending == nil {
		a.pool.put(a.conn)
		return
	}
	// The request may still be on its way: the upstream did not wait for all of it. If it takes the rest, the connection is sound.
	_ = a.conn.SetWriteDeadline(time.Now().Add(afterwards))
	go func() {
		if <-a.sending == nil && a.conn.SetWriteDeadline(time.Time{}) == nil {
			a.pool.put(a.conn)
		} else {
			a.conn.abort()
		}
	}()
}

// afterwards is how long an upstream may take to read the rest of a request that it has answered.
const afterwards = time.Second
