package slidingwindow_test

import (
	"fmt"
	"time"

	"github.com/tokenfare/tokenfare/limiter/examples/slidingwindow"
)

func Example() {
	// Five per second, in any stretch of an hour: 18,000.
	usage, err := slidingwindow.New(slidingwindow.Options{Window: time.Hour, Grain: time.Minute})
	if err != nil {
		panic(err)
	}
	for _, count := range []int64{17_000, 999, 1, 500} {
		answer := usage.IsAllowed("alice")
		fmt.Println(answer.Allowed)
		if !answer.Allowed {
			fmt.Println("of", answer.Window, "with", answer.RemainingAfterWaiting, "left over")
			continue
		}
		if err := usage.Inc("alice", 5, count); err != nil {
			panic(err)
		}
	}
	fmt.Println(usage.IsAllowed("bob").Allowed)

	// Output:
	// true
	// true
	// true
	// false
	// of 1h0m0s with 0 left over
	// true
}
