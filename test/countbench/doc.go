// Package countbench measures package cost/bpe next to the other token counters
// for Go. It is a module of its own, so that nobody who builds tokenfare
// downloads them.
//
//	go test .                                  all count the same; ours in linear time
//	go test -run - -bench . | tee bench.txt    the figures; some minutes
//	go run ./plot fill bench.txt ../../docs/counting.md
//	go run ./plot bars bench.txt > ../../docs/counting-speed.svg
//
// # How it is measured
//
// All contenders of a benchmark, and all kinds of text, take turns on one core,
// in an order shuffled each round, so that whatever else the machine does hits
// all alike. A turn is two milliseconds, or the texts once where that takes
// longer; who is faster than that has counted them once before it, as the
// others' turns have emptied the processor's caches. Each figure is the median
// over the rounds; x-of-ours is the median of the ratios within each round, and
// x-of-ours-at-best the ratio of the fastest turns. CPU is what the kernel
// charges to the process.
//
// The collector is off while turns last, and memory is tidied between them. That
// favours contenders that allocate.
//
// The texts are those of a larger set of samples beside the repository, where
// that is present, and otherwise those of testdata, which are shorter. All of
// them fit in the processor's caches together with what is needed to count
// them; Go-never-seen does not: it goes through the source of Go's standard
// library. So does the English that hard texts are measured by: through what its
// comments say.
//
// It needs a Unix, for getrusage.
package countbench
