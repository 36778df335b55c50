// Package ledger keeps what was spent: every exchange is recorded in rows that are only ever added, and is charged for
// though the process that served it dies.
//
// An exchange begins when its reservation is made: its begin row says who calls what and how much is reserved of which
// budget. The row is durable before the first byte of the answer leaves. A draw row adds to the reservation of an answer
// that needs more. The end row says what was really used, and what that cost; a begin row without an end row stands for its
// whole reservation, and is what a crash leaves behind. A correction changes what an exchange was charged, afterwards.
//
// A [Writer] collects rows and commits them in groups to a [Store]: SQLite in one file, or Postgres. With each group goes
// what it adds to the hourly sums of which reports are made, and to the quarter-hourly sums of each budget from which
// budgets are rebuilt, so sums are exactly those of the rows, however old: rows are dropped after a while, sums are kept.
//
//	w, err := ledger.Open(ctx, store, ledger.Options{})
//	go w.Run(ctx)
//	ticket := w.Begin(&ledger.Begin{Exchange: id, …})
//	err = ticket.Wait(ctx) // before the first byte of the answer
//	w.End(&ledger.End{Exchange: id, …})
//
// What was charged is dated: to the beginning, as far as it was reserved, and to the end what went beyond. So does the
// limiter charge budgets, and replaying the rows gives the budgets as they were.
//
// Beside what was spent it is kept whose the objects are that providers store: responses, conversations, files.
//
// There is no prompt, no completion and no secret in a ledger.
package ledger
