//go:build race

package limitertest

// usualHistories is small under the race detector, which makes them slow and
// has nothing to find in them: they have one goroutine.
const usualHistories = 200
