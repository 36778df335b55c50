//go:build unix

package upstream

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// haveSockets says that it can be asked whether a connection is still open.
const haveSockets = true

// socketOf returns what is below a connection, or nil.
func socketOf(raw net.Conn) syscall.RawConn {
	if s, ok := raw.(syscall.Conn); ok {
		if socket, err := s.SyscallConn(); err == nil {
			return socket
		}
	}
	return nil
}

// alive reports whether the server has neither closed an idle connection nor sent anything on it, as far as is known here.
func (c *conn) alive() bool {
	if c.socket == nil {
		return true
	}
	c.closed = true
	return c.socket.Read(c.look) == nil && !c.closed
}

// peek looks at what can be read without reading it.
func (c *conn) peek(fd uintptr) bool {
	_, _, err := syscall.Recvfrom(int(fd), c.byte[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	c.closed = !errors.Is(err, syscall.EAGAIN)
	return true
}

// read reads what there is into a buffer. Where there is nothing yet it holds no buffer, and has to be called again when there is
// something, unless somebody is to be told first.
func (c *conn) read(fd uintptr) bool {
	c.buffer = buffers.Get().(*[aheadSize]byte)
	for {
		n, err := syscall.Read(int(fd), c.buffer[:])
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			c.putBack()
			return !c.told
		case err != nil:
			c.err = os.NewSyscallError("read", err)
		case n == 0:
			c.err = io.EOF
		default:
			c.ahead = c.buffer[:n]
			return true
		}
		c.putBack()
		return true
	}
}
