// Package notify tells people by a webhook how much of their budgets is used: once for each budget, threshold and period.
//
// A [Notifier] looks at all quotas (limits with "each" and "in total") once a second. A quota is due when it has reached a
// threshold and nobody was told of it, or of a higher one, in the period that goes on. What is due is posted, as one message
// of a line each; the receiver is told from fresh figures, and only what it took is remembered:
//
//	n, err := notify.New(notify.Options{Quotas: server, Ledger: ledger})
//	n.Set(notify.Settings{URL: webhook, At: []int64{80, 100}})
//	go n.Run(ctx)
//
// Nothing is queued. While the receiver is down, budgets stay due for as long as their period goes on, and are tried again
// after 1 s, 2 s, 4 s … 5 min; so nothing grows, nothing is dropped, and who comes back after an hour is told once, of the
// highest threshold. No call ever waits for any of this.
//
// The address of a webhook is a secret: whoever knows it can post. It is in no log line, metric or error of this package.
package notify
