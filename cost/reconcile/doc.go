// Package reconcile compares what a ledger has charged with what the provider says was used: for each model and day it
// shows both sides, how far they are apart, and what is the likely cause.
//
//	reader := reconcile.NewReader()
//	err := reader.Read("usage.json", file, reconcile.Auto) // and more files of the same export
//	export := reader.Export()
//	report := reconcile.Compare(ledger, export, reconcile.Options{Tolerance: reconcile.DefaultTolerance()})
//	report.Text(os.Stdout, false)
//
// The words: a Day is what one model used on one day in UTC, on either side. An Export is the provider's side, gathered
// from one or several files, with the days that it covers: only those are compared. A Line sets the two sides of a model
// and day beside each other. A Cause is a suspicion in words: it follows from the figures alone, and figures can deceive.
//
// What is read: OpenAI's Usage and Costs APIs as they answer (JSON) and as the dashboard exports them (CSV), the metrics of
// Azure Monitor (JSON), and a table of one row for each day and model under any of many column names (CSV or JSON), which
// the exports of OpenRouter and Anthropic happen to be. Numbers are read exactly, never as floats. Whatever cannot be
// understood is an error that names file, row and column; columns that are not needed are passed over.
//
// Files come from outside: reading one never panics and holds at most one element of it besides the sums, and sums and
// rows are limited in number.
package reconcile
