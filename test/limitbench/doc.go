// Package limitbench measures package limiter next to other Go rate limiters
// and next to the least a limiter can do: read the clock and swap one word. It
// is a module of its own, so that nobody who builds tokenfare downloads them.
//
//	go test .                  every contender limits, ours without allocating
//	go test -run - -bench .    the figures; some five minutes
//	go test -run - -bench 'OneBudget|Named' -rounds 31   a part of them, quickly
//	go test -run - -bench . | go run ./plot bars > ../../docs/limiter.svg
//
// # How it is measured
//
// All contenders of a benchmark take turns in slices of two milliseconds, in an
// order shuffled each round, so that whatever else the machine does hits all
// alike. Each figure is the median over the rounds; x-of-ours is the median of
// the ratios within each round. CPU is what the kernel charges to the process.
//
// The collector is off while slices run, and memory is tidied between
// benchmarks. That favours contenders that allocate.
//
// All have the same task: a limit large enough never to refuse, small enough
// never to be full again, and one unit a call. What they promise differs: see
// the table in docs/limiter.md.
//
// It needs a Unix, for getrusage.
package limitbench
