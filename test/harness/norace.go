//go:build !race

package harness

// Race says whether the tests, and so the program under test, run under the race detector.
const Race = false
