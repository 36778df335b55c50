// Package limitertest is what every [limiter.Limiter] must pass, wherever it
// keeps its budgets: in this process, in a store with a clock of its own, or
// in front of another limiter.
//
// [Run] plays three kinds of tests:
//
//   - stories: one behaviour each, told with a clock, every number worked out
//     by hand;
//   - histories: random calls of every verb over budgets of every kind, each
//     answer held against a reference that keeps the whole log and works
//     everything out anew, with no cleverness to go wrong;
//   - callers: many goroutines at once, whose books must be exact and whose
//     answers must be those of some order of their calls.
//
// A suite for an implementation is one function:
//
//	func TestConformance(t *testing.T) {
//		limitertest.Run(t, limitertest.Harness{
//			New:     func(testing.TB) limiter.Limiter { return limiter.NewMemory() },
//			Advance: func(_ testing.TB, d time.Duration) { time.Sleep(d) },
//			Tick:    time.Nanosecond,
//			Within:  synctest.Test,
//		})
//	}
//
// [Fuzz] plays histories that a fuzzer made up.
//
// The number of histories is 2000, 200 under the race detector, or what the
// flag -limiter.histories says:
//
//	go test ./limiter -run 'Conformance/.*/histories' -limiter.histories 1000000 -timeout 2h
//
// A history that fails is made as short as possible, printed, and kept in a
// file that plays it again; see pgregory.net/rapid. Its flag -rapid.steps sets
// how long histories are, 30 calls on average.
//
// What a limiter that is not this process's must do beyond the Limiter
// interface is little: errors that are the caller's fault are
// [limiter.ErrMisuse], and a guess is from 1 to 15 seconds. A TryAcquire of its
// own is optional.
//
// # Promises
//
// The names of the invariants in comments are those of the limiter's rules:
// B1 to B6 for buckets, W1 to W4 for windows, R1 to R3 for the time to wait,
// S1 to S4 for settlement, M1 for several budgets in one call, P5 for changes
// that must not be seen, P7 for goroutines, P9 for clocks that stand still. That
// two implementations decide alike (P8) follows from both deciding as the
// reference does.
package limitertest
