package perclient_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/limiter/examples/perclient"
)

// desk is buckets with verbs that fail the test.
type desk struct {
	*testing.T
	*perclient.Buckets
}

// story tells a test in a bubble, where time.Sleep moves the clock.
func story(t *testing.T, name string, o perclient.Options, tell func(d *desk)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { tell(newDesk(t, o)) })
	})
}

func newDesk(t *testing.T, o perclient.Options) *desk {
	t.Helper()
	b, err := perclient.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return &desk{t, b}
}

func (d *desk) take(client string, n int64) perclient.Answer {
	d.Helper()
	answer, err := d.Take(client, n)
	if err != nil {
		d.Fatal(err)
	}
	return answer
}

func (d *desk) passes(client string, n int64) {
	d.Helper()
	if answer := d.take(client, n); !answer.OK {
		d.Fatalf("%s is refused %d: %+v", client, n, answer)
	}
}

func (d *desk) refused(client string, n int64, wait time.Duration) {
	d.Helper()
	if answer := d.take(client, n); answer.OK || answer.RetryAfter != wait {
		d.Fatalf("%s asks for %d: %+v, want a wait of %v", client, n, answer, wait)
	}
}

func (d *desk) has(client string, tokens int64) {
	d.Helper()
	if got := d.Tokens(client); got != tokens {
		d.Fatalf("%s has %d tokens, want %d", client, got, tokens)
	}
}

func (d *desk) knows(clients int) {
	d.Helper()
	if got := d.Clients(); got != clients {
		d.Fatalf("%d clients known, want %d", got, clients)
	}
}

func perSecond(capacity, refill int64) perclient.Options {
	return perclient.Options{Capacity: capacity, Refill: refill, Every: time.Second}
}
