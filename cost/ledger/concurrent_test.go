package ledger_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// moody is a store's behaviour that is good most of the time.
func moody(r *rand.Rand) func(context.Context, *ledger.Batch) error {
	var mu sync.Mutex
	draw := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return r.IntN(n)
	}
	return func(ctx context.Context, b *ledger.Batch) error {
		switch draw(100) {
		case 0, 1, 2:
			return errBroken
		case 3:
			return slow(time.Duration(draw(40_000))*time.Millisecond)(ctx, b)
		default:
			return slow(time.Duration(draw(20))*time.Millisecond)(ctx, b)
		}
	}
}

// Many callers share a writer whose store has its moods, life after life. Whatever was said to be durable is there, nothing is
// there twice, and the sums are those of the rows.
func TestManyCallersAndAMoodyStore(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playLives(t, seed) })
		})
	}
}

func playLives(t *testing.T, seed uint64) {
	m := newMemory(t)
	var mu sync.Mutex
	durableOnes := map[ledger.ID]bool{} // and whether their end is
	for life := range 4 {
		r := rand.New(rand.NewPCG(seed, uint64(life)))
		m.onCommit(moody(r), moody(rand.New(rand.NewPCG(seed, uint64(life+100)))))
		w, stop := run(t, m, ledger.Options{RollEvery: time.Duration(1+life) * 100 * time.Millisecond, Patience: time.Second})
		over, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for caller := range 25 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(seed, uint64(1000*life+caller)))
				for over.Err() == nil {
					time.Sleep(time.Duration(r.IntN(200)) * time.Millisecond)
					if w.Admit() != nil {
						continue
					}
					b := begun(w, fmt.Sprint("key", caller), int64(1+r.IntN(9)))
					if w.Begin(b).Wait(over) != nil {
						w.End(ended(b, 0)) // it is called off
						continue
					}
					mu.Lock()
					durableOnes[b.Exchange] = false
					mu.Unlock()
					for step := range r.IntN(3) {
						w.Draw(&ledger.Draw{Exchange: b.Exchange, Step: step + 1, Charges: append([]ledger.Charge(nil), b.Charges...)})
					}
					time.Sleep(time.Duration(r.IntN(2000)) * time.Millisecond)
					if r.IntN(20) == 0 {
						continue // nobody knows how it ended
					}
					if w.End(ended(b, 1)).Wait(over) == nil {
						mu.Lock()
						durableOnes[b.Exchange] = true
						mu.Unlock()
					}
					if r.IntN(5) == 0 {
						w.Correct([]*ledger.Correction{corrected(b, int64(r.IntN(5)-2))})
					}
					w.Refused(b.Series.Key, "model", "code")
				}
			})
		}
		time.Sleep(time.Minute)
		cancel()
		if life == 3 {
			m.onCommit(nil, nil)
		}
		if life == 1 { // it dies: nothing reaches the store from now on
			m.onCommit(broken, nil)
		}
		wg.Wait()
		if err := stop(); err != nil && life%2 == 0 {
			t.Logf("life %d: %v", life, err)
		}
		m.look(func() { m.tried = nil })
	}
	m.onCommit(nil, nil)
	_, stop := run(t, m, ledger.Options{})
	stopped(t, stop)
	m.balanced()
	m.look(func() {
		for id, end := range durableOnes {
			if x := m.rows[id]; x == nil || end && x.End.Ending != "complete" {
				t.Errorf("%v was durable, with its end: %v; it is %+v", id, end, x)
			}
		}
		if len(durableOnes) < 300 {
			t.Errorf("only %d exchanges were durable", len(durableOnes))
		}
	})
}
