//go:build !unix

package upstream

import (
	"net"
	"syscall"
)

// haveSockets says that it cannot be asked whether a connection is still open: connections of our own would not do.
const haveSockets = false

// socketOf returns nil: what is done with sockets elsewhere is not done here.
func socketOf(net.Conn) syscall.RawConn { return nil }

// alive reports true: whether the server has closed an idle connection the next write will tell.
func (c *conn) alive() bool { return true }

func (c *conn) peek(uintptr) bool { return true }

func (c *conn) read(uintptr) bool { return true }
