package soak

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy/limit"
	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// TestAbortStorm aborts streams at random moments, many at once, in rounds: after each, goroutines, descriptors and reservations are what they
// were, and memory grows no more after the first. Every call is charged, for its prompt at least.
func TestAbortStorm(t *testing.T) {
	const rounds, atOnce = 5, 100
	plans := func(number int) plan {
		r := rand.New(rand.NewPCG(*seed, uint64(number)))
		return plan{
			number: number, key: "alice", kind: stream, day: whole, way: []way{leaves, leavesLater, halfCloses}[r.IntN(3)], words: 40, most: 60,
			think: time.Duration(r.IntN(3)*r.IntN(10)) * time.Millisecond, pace: time.Duration(1+r.IntN(3)) * time.Millisecond,
			after: time.Duration(r.IntN(300)) * time.Millisecond, cut: r.IntN(40),
		}
	}
	up := newUpstream(t, plans, wire(t))
	ledger := filepath.Join(t.TempDir(), "usage.db")
	limits := []string{"10b tokens in total", "1000 at once", "$90000 each month"}
	p := harness.Start(t, harness.Config{Upstream: up.http.URL + "/v1", UpstreamExtra: fakeopenai.Trust(up.caFile), Limits: limits, Models: pricedModels("fake", "gpt-4o-mini"), More: fmt.Sprintf("ledger: { url: %q }\n", "sqlite:"+ledger)})
	c := newClients(p.URL[len("http://"):], map[string]string{"alice": harness.Alice}, plans)
	c.calls[0] = c.make(plan{key: "alice", kind: stream, way: reads, words: 40, most: 60}) // so that there is nothing new to the others
	before := measure(t, p)
	var warm figures
	for round := range rounds {
		var left atomic.Int64
		left.Store(int64(*aborts / rounds))
		var all sync.WaitGroup
		for range atOnce {
			all.Go(func() {
				for left.Add(-1) >= 0 {
					c.one()
				}
			})
		}
		all.Wait()
		c.http.CloseIdleConnections()
		p.HTTP.CloseIdleConnections()
		base := before
		memory := int64(96 << 20)
		if round > 0 {
			base.rss, memory = warm.rss, 48<<20
		}
		now := awaitBase(t, p, base, memory, up.http.CloseClientConnections)
		if round == 0 {
			warm = now
		}
		t.Logf("after %d aborts: %s", c.made(), now)
	}
	t.Logf("it began with %s; clients: %v", before, c.outcomes())
	b := &books{t: t, plans: plans, accounts: up.list(), calls: c.calls, live: used(t, p)}
	p.Stop(t)
	b.rows = readLedger(t, ledger)
	b.balance()
	for _, text := range limits {
		l, err := limit.Parse(text, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		b.compare(budget{"key alice", l})
	}
	t.Log(b.table())
}

// outcomes counts calls by what has happened to them.
func (c *clients) outcomes() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := map[string]int{}
	for _, one := range c.calls {
		switch {
		case one.clean:
			n["read whole"]++
		case one.status == 0:
			n[one.happened+" before the status"]++
		case one.words == 0:
			n[one.happened+" before a word"]++
		default:
			n[one.happened+" midway"]++
		}
	}
	return n
}
