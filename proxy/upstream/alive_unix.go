//go:build unix

package upstream

import (
	"errors"
	"syscall"
)

// alive reports whether the server has neither closed an idle connection nor sent anything on it, as far as is known here.
func (c *conn) alive() bool {
	if c.socket == nil {
		return true
	}
	c.closed = true
	return c.socket.Read(c.ask) == nil && !c.closed
}

// peek looks at what can be read without reading it.
func (c *conn) peek(fd uintptr) bool {
	_, _, err := syscall.Recvfrom(int(fd), c.byte[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	c.closed = !errors.Is(err, syscall.EAGAIN)
	return true
}
