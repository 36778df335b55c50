package lockfree_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/limiter/examples/lockfree"
)

// desk is a bucket with verbs that fail the test.
type desk struct {
	*testing.T
	*lockfree.Bucket
}

// story tells a test in a bubble, where time.Sleep moves the clock and nothing
// else does.
func story(t *testing.T, name string, c lockfree.Config, tell func(d *desk)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { tell(newDesk(t, c)) })
	})
}

func newDesk(t *testing.T, c lockfree.Config) *desk {
	t.Helper()
	b, err := lockfree.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return &desk{t, b}
}

func (d *desk) take(n int64) bool {
	d.Helper()
	ok, err := d.TryAcquire(n)
	if err != nil {
		d.Fatal(err)
	}
	return ok
}

func (d *desk) passes(n int64) {
	d.Helper()
	if !d.take(n) {
		d.Fatalf("%d refused, there are %d", n, d.Tokens())
	}
}

func (d *desk) refused(n int64) {
	d.Helper()
	if d.take(n) {
		d.Fatalf("%d passed, %d are left", n, d.Tokens())
	}
}

// has wants exactly so many tokens, and takes them.
func (d *desk) has(n int64) {
	d.Helper()
	if got := d.Tokens(); got != n {
		d.Fatalf("%d tokens, want %d", got, n)
	}
	d.refused(n + 1)
	d.passes(n)
}

func perSecond(capacity, refill int64) lockfree.Config {
	return lockfree.Config{Capacity: capacity, Refill: refill, Every: time.Second}
}
