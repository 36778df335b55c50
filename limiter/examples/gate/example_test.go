package gate_test

import (
	"context"
	"fmt"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/limiter/examples/gate"
)

func Example() {
	g, err := gate.New(gate.Options{
		Limiter: limiter.NewMemory(),
		Buckets: map[gate.Pattern]gate.Config{
			gate.PerUser:    {Capacity: 10, RefillRate: 0.5, RefillInterval: time.Hour},
			gate.PerProcess: {Capacity: 1000, RefillRate: 100, RefillInterval: time.Hour},
		},
		WhenDown: gate.Open,
	})
	if err != nil {
		panic(err)
	}
	for _, batch := range []int64{5, 3, 5, 2} {
		answer, err := g.Take(context.Background(), batch, gate.User("alice"), gate.Global())
		fmt.Println(answer.Allowed, answer.Key.Name, answer.Remaining, answer.RetryAfter.Round(time.Minute), err)
	}

	// Output:
	// true alice 5 0s <nil>
	// true alice 2 0s <nil>
	// false alice 2 6h0m0s <nil>
	// true alice 0 0s <nil>
}
