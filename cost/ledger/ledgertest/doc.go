// Package ledgertest is what every [ledger.Store] must pass, wherever it keeps its rows.
//
// [Run] plays three kinds of tests:
//
//   - stories: one behaviour each, with batches written by hand, at instants of the story's choice;
//   - writers: what a [ledger.Writer] makes of the store, in real time;
//   - conservation: random schedules of beginning, drawing, ending, correcting, rolling up, pruning, crashing and starting
//     again. At any moment the ledger's sums must be those of a reference that keeps every exchange in memory and adds it all
//     up anew.
//
// A suite for a store is one function:
//
//	func TestConformance(t *testing.T) {
//		ledgertest.Run(t, ledgertest.Harness{New: func(t testing.TB) ledgertest.Ledger { … }})
//	}
//
// [Migrations] is for stores that keep tables: ledgers that an older program wrote must open with this one. What such a program
// wrote is frozen, once for each store; what it was told is here, in Go.
//
// The number of schedules is what the harness says, else 5000, 500 under the race detector; or what a flag says:
//
//	go test ./cost/ledger/sqlite -run 'Conformance/conservation' -ledger.schedules 1000000 -timeout 2h
//
// Schedules that fail say which seed they had; -ledger.seed plays that one again.
package ledgertest
