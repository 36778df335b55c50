package proxy_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
	"github.com/tokenfare/tokenfare/proxy"
)

// TestCorrectedBudgetsAreTheLedgers has calls corrected while others run, and wants each budget to have counted what a start would
// make of the ledger: as exactly as rows are told apart, and to the unit where nothing refills.
func TestCorrectedBudgetsAreTheLedgers(t *testing.T) {
	for seed := range uint64(16) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 2))
				c := newAmended(t, random, alice(
					t, "$5 in any 30 days", "$0.01 per day, burst $9", "$50 each month", "10k tokens per hour, burst 100k", "1k input tokens per day, burst 100k",
					"100k output tokens per minute", "100k tokens in any 10 minutes", "9k requests in any hour", "100k output tokens in any 5 hours, observe only",
					"9k requests each hour", "10m tokens in total",
				))
				pauses := []time.Duration{0, time.Millisecond, time.Second, 20 * time.Second, 2 * time.Minute}
				if seed%2 == 1 {
					pauses = append(pauses, 20*time.Minute, 3*time.Hour)
				}
				for range 60 {
					time.Sleep(pauses[random.IntN(len(pauses))])
					switch random.IntN(8) {
					case 0:
						c.hold()
					case 1:
						c.letGo()
					case 2, 3:
						c.correct(1+random.IntN(3), random)
					default:
						c.v.chat(hi)
					}
				}
				c.hold()
				c.correct(3, random)
				c.compare("while calls run")
				c.letGo()
				c.compare("at the end")
			})
		})
	}
}

// amended is a proxy whose calls are corrected.
type amended struct {
	t        *testing.T
	v        *virtual
	spec     proxy.Spec
	path     string
	restorer *proxy.Restorer

	release chan struct{}
	running sync.WaitGroup
}

func newAmended(t *testing.T, random *rand.Rand, spec proxy.Spec) *amended {
	c := &amended{t: t, spec: spec, path: filepath.Join(t.TempDir(), "usage.db"), release: make(chan struct{})}
	store, err := sqlite.Open(t.Context(), c.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	var mu sync.Mutex
	c.v = newVirtual(t, spec, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		kind, output := random.IntN(3), random.IntN(90)+1 // more than is reserved, now and then
		mu.Unlock()
		if r.Header.Get("Traceparent") == "hold" {
			<-c.release
			kind = 1
		}
		if kind == 0 {
			panic(http.ErrAbortHandler) // nobody knows what it used
		}
		answerWith(http.StatusOK, plainAnswer(8, output))(w, r)
	}, func(s *settings) { s.durable, s.ledger.RollEvery = store, 10*time.Minute })
	c.restorer = proxy.NewRestorer(c.v.limiter)
	c.load(spec)
	t.Cleanup(func() { c.letGo() })
	return c
}

// load puts a policy into effect.
func (c *amended) load(spec proxy.Spec) {
	c.t.Helper()
	policy := c.v.policy(spec)
	c.v.reading(func(s ledger.Snapshot) error {
		_, err := c.restorer.Restore(c.t.Context(), policy, s)
		return err
	})
	c.v.server.SetPolicy(policy)
	c.spec = spec
}

// hold begins a call that runs until letGo.
func (c *amended) hold() {
	c.running.Go(func() { c.v.chat(hi, "Traceparent", "hold") })
	synctest.Wait()
}

func (c *amended) letGo() {
	close(c.release)
	c.running.Wait()
	c.release = make(chan struct{})
	synctest.Wait()
}

// correct corrects some calls that have ended, at once: to nothing, less or more.
func (c *amended) correct(most int, random *rand.Rand) {
	c.t.Helper()
	a, err := c.restorer.Amend()
	if err != nil {
		c.t.Fatal(err)
	}
	time.Sleep(time.Second) // all is durable
	var list []*ledger.Correction
	c.v.reading(func(s ledger.Snapshot) error {
		before := corrections(c.t, s)
		var calls []*ledger.Exchange
		err := s.Began(c.t.Context(), time.Unix(0, 0), time.Now(), func(x *ledger.Exchange) error {
			if x.End != nil {
				calls = append(calls, x)
			}
			return nil
		})
		random.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
		for _, x := range calls[:min(most, len(calls))] {
			to := ledger.Account{Basis: ledger.Nothing}
			if random.IntN(2) == 0 {
				to = ledger.Account{Basis: "corrected", Usage: cost.Usage{Input: random.Int64N(1000), Output: random.Int64N(1000)}, Cost: cost.NanoUSD(random.Int64N(3_000_000))}
			}
			one, wrong := x.Correct(before[x.Begin.Exchange], to, "reason")
			if wrong != nil {
				return wrong
			}
			if one != nil {
				list = append(list, one)
			}
		}
		if err != nil {
			return err
		}
		return a.Read(c.t.Context(), s, list)
	})
	c.v.writer.Correct(list)
	if err := a.Apply(); err != nil {
		c.t.Fatal(err)
	}
	time.Sleep(time.Second)
}

func corrections(t *testing.T, s ledger.Snapshot) map[ledger.ID][]ledger.Correction {
	t.Helper()
	list := map[ledger.ID][]ledger.Correction{}
	err := s.Corrections(t.Context(), time.Unix(0, 0), time.Now(), func(one *ledger.Correction) error {
		list[one.Exchange] = append(list[one.Exchange], *one)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// compare wants what a start would count now.
func (c *amended) compare(when string) {
	c.t.Helper()
	time.Sleep(time.Second)
	synctest.Wait()
	after := rebuilt(c.t, c.v, c.spec, c.path)
	budgets, err := c.v.server.Budgets(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	for _, b := range budgets {
		counted, is := b.State.Used+b.State.Held, after[b.Name].Used
		if observes(b) {
			counted += unsettled(c.v, b)
		}
		least, most := counted, counted
		switch b.Kind {
		case "per":
			l := limits(c.t, b.Limit)[0]
			least, most = counted-int64(float64(l.Amount)*float64(2*time.Second)/float64(l.Every))-1, mostRebuilt(c.v, b, counted)
		case "in any":
			most = max(counted, mostRebuilt(c.v, b, counted))
		}
		if is < least || is > most {
			c.t.Errorf("%s, %s: rebuilt it is %d, and %d here, want from %d to %d", when, b.Name, is, counted, least, most)
		}
	}
}

// TestCorrectionsReachWhatReloadsRemove: a limit that comes back has counted what the ledger has.
func TestCorrectionsReachWhatReloadsRemove(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		both := alice(t, "10m tokens in total", "10k tokens per hour, burst 100k", "100k tokens in any hour", "9k requests each day")
		c := newAmended(t, random, both)
		for range 5 {
			c.v.chat(hi)
		}
		c.load(alice(t, "9k requests each day"))
		c.v.chat(hi)
		c.correct(6, random)
		c.load(both)
		c.compare("after it was away")
		c.v.chat(hi)
		c.compare("when it is back")
	})
}
