package lockfree_test

import (
	"fmt"
	"time"

	"github.com/tokenfare/tokenfare/limiter/examples/lockfree"
)

// In front of a language model each request costs as many tokens as it may use:
// those of its prompt and the most it asks for.
func Example() {
	bucket, err := lockfree.New(lockfree.Config{Capacity: 20_000, Refill: 10_000, Every: time.Hour})
	if err != nil {
		panic(err)
	}
	for _, request := range []struct{ prompt, maxTokens int64 }{{1_200, 4_096}, {6_000, 4_096}, {900, 16_384}, {500, 1_000}} {
		cost := request.prompt + request.maxTokens
		ok, err := bucket.TryAcquire(cost)
		fmt.Println(cost, ok, err)
		if !ok {
			fmt.Println("wait", bucket.RetryAfter(cost).Round(time.Minute))
		}
	}

	// Output:
	// 5296 true <nil>
	// 10096 true <nil>
	// 17284 false <nil>
	// wait 1h16m0s
	// 1500 true <nil>
}
