// Package perclient gives each client a token bucket of its own: the kind of
// limiter that sits behind a server's middleware, after "Building a Token
// Bucket Rate Limiter in Rust with Axum". The HTTP part is proxy/httplimit.
//
// There, a task refilled every bucket a few times a second and another one
// looked for idle ones. Here nothing runs: a bucket is refilled by working out
// what has come back when somebody asks, and a client that is idle is one
// whose bucket is full, so that forgetting it changes no answer.
package perclient

import (
	"context"
	"fmt"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// Options are the options of New.
type Options struct {
	Capacity int64         // tokens a client may take at once, at least 1
	Refill   int64         // tokens that come back per Every, at least 1
	Every    time.Duration // at least 1 ns

	// MostClients is how many clients are told apart at once; 0 means
	// 1,048,576. Newcomers beyond it share one bucket until there is room.
	MostClients int
}

// Buckets are the buckets of all clients. Its methods may be called from any
// number of goroutines.
type Buckets struct {
	memory  *limiter.Memory
	clients *limiter.Family
}

// New returns buckets that start full.
func New(o Options) (*Buckets, error) {
	rule := limiter.TokenBucket{Size: o.Capacity, Refill: o.Refill, Every: o.Every}
	if err := rule.Validate(); err != nil {
		return nil, fmt.Errorf("buckets per client: %w", err)
	}
	memory := limiter.NewMemory()
	return &Buckets{memory, memory.Family(limiter.FamilyOptions{Rule: rule, Most: o.MostClients})}, nil
}

// Answer is the answer to one client.
type Answer struct {
	OK         bool
	Tokens     int64         // whole tokens left
	RetryAfter time.Duration // 0 if OK, limiter.Never if so many tokens never fit
}

// Take takes n tokens from a client's bucket, or none. It makes the bucket if
// the client is new. The one error is a negative n.
func (b *Buckets) Take(client string, n int64) (Answer, error) {
	charges := []limiter.Charge{{Budget: b.clients.Budget(client), N: n}}
	d, err := b.memory.TryAcquire(context.Background(), charges)
	if err != nil {
		return Answer{}, fmt.Errorf("take %d tokens: %w", n, err)
	}
	return Answer{d.OK, charges[0].State.Remaining, d.RetryAfter}, nil
}

// Tokens returns how many whole tokens a client has.
func (b *Buckets) Tokens(client string) int64 {
	answer, err := b.Take(client, 0)
	if err != nil {
		panic("BUG: perclient: " + err.Error()) // nothing is wrong with taking none
	}
	return answer.Tokens
}

// Clients returns how many buckets there are.
func (b *Buckets) Clients() int { return b.clients.Len() }

// Cleanup forgets idle clients and returns how many. It is never needed for
// safety: newcomers make it happen bit by bit.
func (b *Buckets) Cleanup() int { return b.clients.Sweep() }

// Run calls Cleanup every so often until the context ends, and returns its
// error.
func (b *Buckets) Run(ctx context.Context, every time.Duration) error {
	return b.clients.Run(ctx, every)
}
