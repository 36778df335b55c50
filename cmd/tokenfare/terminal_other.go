//go:build !linux && !darwin

package main

import "io"

// terminalHeight is not known on this system.
func terminalHeight(io.Writer) int { return 0 }
