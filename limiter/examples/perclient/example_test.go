package perclient_test

import (
	"fmt"
	"time"

	"github.com/tokenfare/tokenfare/limiter/examples/perclient"
)

func Example() {
	buckets, err := perclient.New(perclient.Options{Capacity: 3, Refill: 1, Every: time.Hour})
	if err != nil {
		panic(err)
	}
	for range 4 {
		answer, err := buckets.Take("alice", 1)
		fmt.Println(answer.OK, answer.Tokens, answer.RetryAfter.Round(time.Minute), err)
	}
	fmt.Println("bob has", buckets.Tokens("bob"))

	// Output:
	// true 2 0s <nil>
	// true 1 0s <nil>
	// true 0 0s <nil>
	// false 0 1h0m0s <nil>
	// bob has 3
}
