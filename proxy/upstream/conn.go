package upstream

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	mostHeader = 256 << 10 // bytes of all the heads that belong to an answer
	atOnce     = 32 << 10  // a body of at most so many bytes goes out with its head, and fits the buffers between here and there
	readSize   = 4 << 10   // of the buffer that answers are parsed in; net/http's server has one as large to write in, so that what fits one fits the other
	aheadSize  = 32 << 10  // of the buffers that answers are read into
)

var errHeader = errors.New("the head of the upstream's answer is longer than 256 KiB")

// conn is one connection to a server. It belongs to one call at a time; abort may be called by anyone.
type conn struct {
	net.Conn
	r     *bufio.Reader
	room  int64 // how many bytes may still be read
	sent  bool  // all of its request was written
	used  bool  // it had a call before that one
	since time.Time

	socket syscall.RawConn // nil: it is no socket
	look   func(fd uintptr) bool
	closed bool // by the server, when it was last looked at
	byte   [1]byte

	take   func(fd uintptr) bool
	buffer *[aheadSize]byte // that holds what was read ahead; nil: nothing was
	ahead  []byte           // the part of it that nobody has had yet
	err    error            // why there is nothing

	told    bool         // reading may wait: nobody has to be told any more
	waiting func() error // called before a read waits; nil: nobody wants to know
}

func newConn(raw net.Conn) *conn {
	c := &conn{Conn: raw}
	c.r = bufio.NewReaderSize((*bounded)(c), readSize)
	if c.socket = socketOf(raw); c.socket != nil {
		c.look, c.take = c.peek, c.read
	}
	return c
}

// abort closes the connection: who reads from it or writes to it gets an error at once.
func (c *conn) abort() { c.Conn.Close() }

// bounded is what a conn's buffer reads from.
type bounded conn

func (b *bounded) Read(p []byte) (n int, err error) {
	if b.room <= 0 {
		return 0, errHeader
	}
	p = p[:min(int64(len(p)), b.room)]
	if c := (*conn)(b); c.socket == nil {
		if c.waiting != nil { // it may have to wait
			if err := c.waiting(); err != nil {
				return 0, err
			}
		}
		n, err = c.Conn.Read(p)
	} else {
		n, err = c.readAhead(p)
	}
	b.room -= int64(n)
	return n, err
}

// unread reports whether something was read that belongs to no answer yet.
func (c *conn) unread() bool { return c.r.Buffered() > 0 || len(c.ahead) > 0 }

// buffers are lent to connections that have something to read. Most of the time most streams wait, and need none.
var buffers = sync.Pool{New: func() any { return new([aheadSize]byte) }}

// readAhead reads all that there is, or waits for something, and passes on what fits p. A burst of events costs one system call.
func (c *conn) readAhead(p []byte) (int, error) {
	if len(c.ahead) == 0 {
		c.err, c.told = nil, c.waiting == nil
		err := c.socket.Read(c.take)
		if err == nil && c.err == nil && len(c.ahead) == 0 { // there is nothing yet
			// It is told out here, for it may take long: a connection that is being read is not closed before that has ended.
			if err = c.waiting(); err == nil {
				c.told = true
				err = c.socket.Read(c.take)
			}
		}
		if err != nil {
			return 0, err
		}
		if c.err != nil {
			return 0, c.err
		}
	}
	n := copy(p, c.ahead)
	if c.ahead = c.ahead[n:]; len(c.ahead) == 0 {
		c.putBack()
	}
	return n, nil
}

// putBack gives the buffer back.
func (c *conn) putBack() {
	if c.buffer != nil {
		buffers.Put(c.buffer)
		c.buffer, c.ahead = nil, nil
	}
}

// heads lends buffers for requests.
var heads = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// send writes a request.
func (c *conn) send(r *http.Request) error {
	c.sent = false
	buffer := heads.Get().(*[]byte)
	defer heads.Put(buffer)
	b := appendHead((*buffer)[:0], r)
	small := r.Body != nil && r.ContentLength <= atOnce
	if small {
		head := len(b)
		b = append(b, make([]byte, r.ContentLength)...)
		if _, err := io.ReadFull(r.Body, b[head:]); err != nil {
			return err
		}
	}
	*buffer = b
	_, err := c.Write(b)
	if err == nil && r.Body != nil && !small {
		var n int64
		n, err = io.Copy(c.Conn, r.Body)
		if err == nil && n != r.ContentLength {
			err = errors.New("a request's body is not as long as was said")
		}
	}
	if r.Body != nil {
		r.Body.Close()
	}
	c.sent = err == nil
	return err
}

// oneLine takes out of a value what would end its line.
var oneLine = strings.NewReplacer("\r", " ", "\n", " ", "\x00", " ")

// appendHead writes the head of a request with its length (RFC 9112, sections 3 and 6.2).
func appendHead(b []byte, r *http.Request) []byte {
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	b = append(append(append(b, r.Method...), ' '), r.URL.RequestURI()...)
	b = append(append(b, " HTTP/1.1\r\nHost: "...), host...)
	if r.Body != nil && r.Body != http.NoBody || r.Method == http.MethodPost {
		b = strconv.AppendInt(append(b, "\r\nContent-Length: "...), r.ContentLength, 10)
	}
	for name, values := range r.Header {
		for _, v := range values {
			if strings.ContainsAny(v, "\r\n\x00") { // never: all of them were checked where they came in
				v = oneLine.Replace(v)
			}
			b = append(append(append(append(b, "\r\n"...), name...), ": "...), v...)
		}
	}
	return append(b, "\r\n\r\n"...)
}
