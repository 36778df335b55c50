package limiter_test

import (
	"context"
	"fmt"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// Each client may spend 100 at once and 10 a second after that, and is told how
// long to wait.
func Example_tenLines() {
	ctx := context.Background()
	tryAgainIn := func(wait time.Duration) error { return fmt.Errorf("try again in %v", wait.Round(time.Second)) }

	budgets := limiter.NewMemory()
	clients := budgets.Family(limiter.FamilyOptions{
		Rule: limiter.TokenBucket{Size: 100, Refill: 10, Every: time.Second},
	})
	call := func(client string, cost int64) error {
		charges := []limiter.Charge{{Budget: clients.Budget(client), N: cost}}
		d, err := limiter.TryAcquire(ctx, budgets, charges)
		if err == nil && !d.OK {
			return tryAgainIn(d.RetryAfter)
		}
		return err
	}
	fmt.Println(call("alice", 70))
	fmt.Println(call("alice", 70))
	fmt.Println(call("bob", 70))

	// Output:
	// <nil>
	// try again in 4s
	// <nil>
}

// A call to a language model is charged at its worst case before it is made,
// and squared when the true usage is known.
func Example() {
	ctx := context.Background()
	budgets := limiter.NewMemory()
	charges := []limiter.Charge{
		{Budget: budgets.Budget("alice tokens per hour", limiter.SlidingWindow{Limit: 10_000, Window: time.Hour, Grain: time.Minute})},
		{Budget: budgets.Budget("team tokens in total", limiter.Total{Limit: 15_000})},
	}
	reserve := func(tokens int64) *limiter.Reservation {
		charges[0].N, charges[1].N = tokens, tokens
		r, d, err := budgets.Reserve(ctx, charges)
		if err != nil {
			fmt.Println("misuse:", err)
		}
		if !d.OK {
			c := charges[d.Refused]
			fmt.Printf("refused by %q: %d remain, only held: %v\n", c.Budget.Name(), c.State.Remaining, d.HeldOnly)
		}
		return r
	}

	first := reserve(8_000)
	reserve(8_000) // too much while the first call is under way

	if err := first.Settle(ctx, []int64{1_200, 1_200}); err != nil {
		fmt.Println("misuse:", err)
	}
	second := reserve(8_000)
	for _, c := range charges {
		fmt.Printf("%s: %d used, %d held, %d remain\n", c.Budget.Name(), c.State.Used, c.State.Held, c.State.Remaining)
	}
	if err := second.Cancel(ctx); err != nil {
		fmt.Println("misuse:", err)
	}
	fmt.Println(budgets.OpenCount(), "open")

	// Output:
	// refused by "team tokens in total": 7000 remain, only held: true
	// alice tokens per hour: 1200 used, 8000 held, 800 remain
	// team tokens in total: 1200 used, 8000 held, 5800 remain
	// 0 open
}

// TryAcquire is for costs known beforehand, such as the request itself.
func ExampleTryAcquire() {
	m := limiter.NewMemory()
	perDay := m.Budget("requests", limiter.TokenBucket{Size: 2, Refill: 1, Every: 12 * time.Hour})
	for range 3 {
		d, err := limiter.TryAcquire(context.Background(), m, []limiter.Charge{{Budget: perDay, N: 1}})
		fmt.Println(d.OK, d.RetryAfter.Round(time.Minute), err)
	}
	// Output:
	// true 0s <nil>
	// true 0s <nil>
	// false 12h0m0s <nil>
}
