//go:build !linux

package harness

import (
	"os/exec"
	"syscall"
)

// tie does nothing outside Linux: a command outlives a test process that is killed, and root cannot run it.
func tie(*exec.Cmd, syscall.Signal, *account) {}
