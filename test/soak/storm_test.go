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
// were, and after the first nothing more is kept in the heap, however many were aborted. Every call is charged, for its prompt at least.
func TestAbortStorm(t *testing.T) {
	const (
		rounds, atOnce = 5, 100
		keeps          = 256       // bytes that an aborted stream may leave behind: it takes some hundred times as much
		wavers         = 512 << 10 // by how much what is kept differs from one look to the next
	)
	plans := func(number int) plan {
		r := rand.New(rand.NewPCG(*seed, uint64(number)))
		return plan{
			number: number, key: "alice", kind: stream, day: whole, way: []way{leaves, leavesLater, halfCloses}[r.IntN(3)], words: 40, most: 60,
			think: time.Duration(r.IntN(3)*r.IntN(10)) * time.Millisecond, pace: time.Duration(1+r.IntN(3)) * time.Millisecond,
			after: time.Duration(r.IntN(60)) * time.Millisecond, cut: r.IntN(30),
		}
	}
	up := newUpstream(t, plans, wire(t))
	ledger := filepath.Join(t.TempDir(), "usage.db")
	limits := []string{"10b tokens in total", "1000 at once", "$90000 each month"}
	p := harness.Start(t, harness.Config{Upstream: up.http.URL + "/v1", UpstreamExtra: fakeopenai.Trust(up.caFile), Limits: limits, Models: pricedModels("fake", "gpt-4o-mini"), More: fmt.Sprintf("ledger: { url: %q }\n", "sqlite:"+ledger)})
	c := newClients(p.URL[len("http://"):], map[string]string{"alice": harness.Alice}, plans)
	c.calls[0] = c.make(plan{key: "alice", kind: stream, way: reads, words: 40, most: 60}) // so that there is nothing new to the others
	base := measure(t, p)
	base.live = liveHeap(t, p)
	t.Logf("it begins with %s", base)
	warm := int64(0) // streams that were aborted until the first measure of the heap that counts
	heap := int64(4 << 20)
	var aborted atomic.Int64 // those that were read whole, as the client came too late, do not count
	for round := range int64(rounds) {
		upto := int64(*aborts) * (round + 1) / rounds
		var all sync.WaitGroup
		for range atOnce {
			all.Go(func() {
				for aborted.Load() < upto && c.made() < 3**aborts {
					if !c.one().clean {
						aborted.Add(1)
					}
				}
			})
		}
		all.Wait()
		if aborted.Load() < upto {
			t.Fatalf("of %d streams, %d were aborted", c.made(), aborted.Load())
		}
		c.http.CloseIdleConnections()
		p.HTTP.CloseIdleConnections()
		if round > 0 {
			heap = wavers + keeps*(aborted.Load()-warm)
		}
		now := awaitBase(t, p, base, heap, up.http.CloseClientConnections)
		if round == 0 {
			warm, base.live, base.rss = aborted.Load(), now.live, now.rss
		}
		t.Logf("after %d aborts of %d streams: %s", aborted.Load(), c.made(), now)
	}
	t.Logf("clients: %v", c.outcomes())
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
