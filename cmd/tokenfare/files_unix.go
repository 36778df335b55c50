//go:build unix

package main

import "syscall"

// openFiles is how many files this process may have open. Go has raised it as far as the system lets it.
func openFiles() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024 // what most systems begin with
	}
	return uint64(limit.Cur) //nolint:unconvert // it is signed on some systems
}
