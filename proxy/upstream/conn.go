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
	readSize   = 8 << 10   // of the buffer that answers are read into
)

var errHeader = errors.New("the head of the upstream's answer is longer than 256 KiB")

// conn is one connection to a server. It belongs to one call at a time; abort may be called by anyone.
type conn struct {
	net.Conn
	r     *bufio.Reader
	room  int64 // how many bytes may still be read
	wrote int64 // bytes of the call that runs
	sent  bool  // all of its request was written
	used  bool  // it had a call before that one
	since time.Time

	socket syscall.RawConn // nil: its state cannot be asked for
	closed bool            // by the server, when it was last asked
	ask    func(fd uintptr) bool
	byte   [1]byte
}

func newConn(raw net.Conn) *conn {
	c := &conn{Conn: raw}
	c.r = bufio.NewReaderSize((*bounded)(c), readSize)
	if s, ok := raw.(syscall.Conn); ok {
		if socket, err := s.SyscallConn(); err == nil {
			c.socket, c.ask = socket, c.peek
		}
	}
	return c
}

// abort closes the connection: who reads from it or writes to it gets an error at once.
func (c *conn) abort() { c.Conn.Close() }

// bounded is what a conn's buffer reads from.
type bounded conn

func (b *bounded) Read(p []byte) (int, error) {
	if b.room <= 0 {
		return 0, errHeader
	}
	n, err := b.Conn.Read(p[:min(int64(len(p)), b.room)])
	b.room -= int64(n)
	return n, err
}

// heads lends buffers for requests.
var heads = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// send writes a request.
func (c *conn) send(r *http.Request) error {
	c.wrote, c.sent = 0, false
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
	n, err := c.Write(b)
	c.wrote += int64(n)
	if err == nil && r.Body != nil && !small {
		var n int64
		n, err = io.Copy(c.Conn, r.Body)
		c.wrote += n
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
