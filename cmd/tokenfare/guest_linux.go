package main

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// hungUp reports whether the other side of a connection has closed it, or its own half of it, whatever it has sent before that is still to be
// read (poll(2), POLLRDHUP).
func hungUp(c net.Conn) bool {
	hung := false
	err := withDescriptor(c, func(fd int) {
		asked := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}} //nolint:gosec // descriptors are small
		n, err := unix.Poll(asked, 0)
		hung = err == nil && n > 0
	})
	return err == nil && hung
}

// unsent is how many bytes of what was written the other side of a connection has not acknowledged (tcp(7), SIOCOUTQ); 0: it cannot be told.
func unsent(c net.Conn) int {
	left := 0
	err := withDescriptor(c, func(fd int) {
		if n, err := unix.IoctlGetInt(fd, unix.SIOCOUTQ); err == nil {
			left = n
		}
	})
	if err != nil {
		return 0
	}
	return left
}

// withDescriptor calls do with the descriptor of a connection, which stays open meanwhile.
func withDescriptor(c net.Conn, do func(fd int)) error {
	s, ok := c.(syscall.Conn)
	if !ok {
		return syscall.ENOTSUP
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) { do(int(fd)) }) //nolint:gosec // descriptors are small
}
