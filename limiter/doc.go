// Package limiter counts what callers spend against budgets, refuses what
// would go over, and says exactly when a refused call could pass. It knows
// names, amounts and time; what the amounts stand for is the caller's affair.
//
// # In ten lines
//
//	budgets := limiter.NewMemory()
//	clients := budgets.Family(limiter.FamilyOptions{
//		Rule: limiter.TokenBucket{Size: 100, Refill: 10, Every: time.Second},
//	})
//	...
//	charges := []limiter.Charge{{Budget: clients.Budget(client), N: cost}}
//	d, err := limiter.TryAcquire(ctx, budgets, charges)
//	if err == nil && !d.OK {
//		return tryAgainIn(d.RetryAfter)
//	}
//
// # Words
//
// A [Budget] is one counter with a name. Its [Rule] says how much may be spent
// over what time:
//
//   - [TokenBucket]: a burst at once, then a steady rate. Smooth.
//   - [SlidingWindow]: never more than the limit in any stretch of that length.
//   - [CalendarQuota]: so much an hour, day, week, month or quarter, in a time
//     zone, as invoices have it.
//   - [Total]: so much, once.
//   - [AtOnce]: so many calls in flight.
//
// Budgets named in a configuration come from [Limiter.Budget] and stay. Those
// of names that turn up, such as client addresses, come from a [Family], which
// makes and drops them unseen. A [Charge] is an amount to take from a budget.
// One call may charge several and takes all or none. The answer is a
// [Decision]; what each budget then looks like is in the [State] of its charge.
//
// # Which call
//
// [TryAcquire] is for callers who know the cost; [Budget.TryAcquire] does the
// same for one budget with a bare yes or no, in a few nanoseconds more than
// reading the clock. Where the cost is known only afterwards,
// [Limiter.Reserve] takes an estimate, and the [Reservation] is settled at the
// true amount:
//
//	r, d, err := l.Reserve(ctx, charges)
//	if err != nil {
//		return err // misuse, or a store that cannot answer
//	}
//	if !d.OK {
//		return refuse(charges[d.Refused], d.RetryAfter)
//	}
//	defer r.Cancel(ctx) // does nothing after Settle
//	...
//	return r.Settle(ctx, actual)
//
// Until then the whole estimate is held: it counts, but is told apart from
// what was used, so that a refusal caused by calls in flight (HeldOnly) is not
// taken for an empty purse. Work that turns out to need more than its estimate
// draws it ([Reservation.Draw]), ahead of calls that have not begun. What was
// not used goes back where it was taken, never where it would let somebody
// spend it twice; what was used beyond it is debt, which time repays before
// anything more is admitted. [Limiter.Inc] counts what cannot be refused any
// more. [Limiter.Peek] asks. [Memory.Open] lists who holds what.
//
// # Promises
//
// Admission is exact. Whatever the interleaving, a bucket admits in any time t
// no more than Size + t × Refill / Every, a window no more than Limit in any
// Window, and so on, counting what was truly used, apart from what Inc and
// overruns add. Waiting RetryAfter is enough if nobody else spends, and a
// nanosecond less is not. A refusal changes nothing. Amounts are int64 and
// never wrap: a sum that does not fit is an error, or is cut off where
// Settle must not fail.
//
// # Zero values
//
// Rules, charges and options are plain structs. Everything else comes from a
// limiter: a [Memory] from [NewMemory], a Family from [Memory.Family], a Budget
// from either. To charge a nil or zero Budget is [ErrMisuse], and so is any verb
// of a zero Reservation; other methods of zero values panic.
//
// # What it will not do
//
// It does not queue or sleep: the caller knows what waiting is worth. It does
// not share budgets between processes; [Memory] forgets them when the process
// ends, and whoever keeps a ledger tells the next one what was spent
// ([Memory.Restore]). Other limiters may do so behind the same interface, see
// [Backing]. It does not end reservations that were forgotten, unless told to
// ([Memory.SettleOlder]): they stay held.
package limiter
