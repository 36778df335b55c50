// Package load holds many slow streams open at once through the built program, and measures what they cost it. Every stream is compared
// with what the upstream sent, to the byte; the program's memory is bounded.
//
//	go test ./test/load                        # a thousand streams with prompts of 1 kB
//	go test ./test/load -load.all -timeout 30m # prompts of 1 MB, and ten thousand streams, too: all in the figures of a release
//	go test ./test/load -load.tls=h2           # or h1: the upstream is spoken to over TLS
//	go test ./test/load -load.all -load.opening=1000 -v # all of them ask at the same instant
//
// Clients and the upstream live in the test's process, with as little for each stream as they can do with, so that what is measured is
// the program. Ten thousand streams need twenty thousand descriptors there and in the program: the test raises its limit, and where it
// may not, it says so, and opens as many streams as it can.
package load
