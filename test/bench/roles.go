package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
)

// The mock and the bare proxy are this same program, started again with a role.
const (
	rolePrefix = "-role="
	roleMock   = "mock"
	roleBare   = "bare"
)

// roleAsked reports whether a command line asks for a role instead of a measurement.
func roleAsked(args []string) (string, bool) {
	if len(args) < 2 {
		return "", false
	}
	return strings.CutPrefix(args[1], rolePrefix)
}

// play serves in a role on a free port of loopback, prints the address, and ends when standard input does: a server never outlives
// the run that started it.
func play(role string) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", role, err)
		return 1
	}
	failed := make(chan error, 1)
	switch {
	case role == roleMock:
		go func() { failed <- serveMock(l) }()
	case role == roleBare && len(os.Args) == 3:
		go func() { failed <- serveBare(l, os.Args[2]) }()
	default:
		fmt.Fprintf(os.Stderr, "there is no role %q\n", os.Args[1:])
		return 2
	}
	fmt.Println(l.Addr())
	ended := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin) //nolint:errcheck // its end is all that matters
		close(ended)
	}()
	select {
	case err := <-failed:
		fmt.Fprintf(os.Stderr, "%s: %v\n", role, err)
		return 1
	case <-ended:
		return 0
	}
}
