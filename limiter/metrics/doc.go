// Package metrics shows a Prometheus server what a limiter decides.
//
// [Wrap] puts the metrics around any [limiter.Limiter]:
//
//	l, err := metrics.Wrap(limiter.NewMemory(), metrics.Options{
//		Registry: registry,
//		Key:      func(budget string) string { return ids[budget] }, // "" for names of nobody in particular
//	})
//	b := l.Budget("alice", rule)
//	r, d, err := l.Reserve(ctx, []limiter.Charge{{Budget: b, N: 100}}) // counted
//
// A host that decides more than the limiter is asked, or asks it more often than
// it decides, uses the [Set] alone: it looks up the [Series] of each budget once
// and counts on them what it tells its callers.
//
// # Names
//
//	rate_limit_acquire_total{key,result}   decisions, see Result
//	rate_limit_acquire_duration_seconds    time a decision takes, from 50 ns on
//	rate_limit_decisions_total{source}     who decided: local, store, leased or degraded
//	rate_limit_tokens{key}                 what a budget has left, read when it is scraped
//	rate_limit_debt{key}                   what it has counted beyond its limit, likewise
//	rate_limit_reserved_total{key}         taken at an estimate: reservations and draws
//	rate_limit_settled_total{key}          charged for good
//	rate_limit_overrun_total{key}          used beyond what was reserved
//	rate_limit_refunded_total{key}         reserved and not used
//	rate_limit_open_reservations           neither settled nor cancelled yet
//	rate_limit_names{family}               names a family of budgets has
//	rate_limit_evictions_total{family}     names it has dropped
//	rate_limit_shared_names_total{family}  times it was full and a new name had to share
//
// Amounts are in each budget's own unit, as the callers gave them. A refusal is
// counted once, on the budget that explains it; what passes is counted on every
// budget of the call.
//
// # Labels
//
// A key is the name of a budget that came from configuration, or what Options.Key
// makes of it: the id of a key, never its secret. Names that come from the network
// (families of budgets) have the label "other" in common, and so have all budgets
// beyond the first Options.Most, so that nobody can fill a server's memory with
// series. What is left is not shown for "other": it is many budgets.
//
// # Handles
//
// Budgets keep belonging to the limiter inside: its handles, those of its families
// included, may be charged through the wrapper or directly, and mean the same
// counter. What bypasses the wrapper is not counted. The levels of budgets are right
// all the same.
//
// [limiter.Budget.TryAcquire] always bypasses it, as the handle does not know the
// wrapper: it costs less than counting it would. For one budget in memory, with the
// handle as the measure (BenchmarkHandle, BenchmarkTryAcquire):
//
//	Budget.TryAcquire, not counted                    1
//	limiter.TryAcquire on the limiter inside          2
//	Budget.TryAcquire, counted by hand on a Set       3.5 to 4
//	limiter.TryAcquire through the wrapper            5 to 6
//
// limiter/examples/lockfree counts by hand, behind an interface of its own, so that
// nobody can bypass it.
package metrics
