package ledgertest

import (
	"cmp"
	"flag"
	"math/rand/v2"
	"testing"
	"time"
)

var (
	schedules = flag.Int("ledger.schedules", 0, "random schedules that a ledger's sums are held against a reference for; zero means the store's usual number")
	seed      = flag.Uint64("ledger.seed", 0, "seed of the first schedules; zero means any")
)

// atOnce is how many schedules are interleaved in one ledger.
const atOnce = 2500

// conservation plays random schedules. A schedule is what happens to the exchanges of one key: they begin, draw, end and are
// corrected, while the ledger's sums are rolled up, its rows are pruned, commits fail or have an unknown outcome, and
// processes crash and start again. Many are interleaved in one ledger. Whenever somebody looks, the ledger's sums are those of
// the reference, key by key, to the last token and nano-dollar.
func (h Harness) conservation(t *testing.T) {
	all, first := cmp.Or(*schedules, h.Schedules, usualSchedules), *seed
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	began := time.Now()
	for done, n := 0, uint64(0); done < all && !t.Failed(); done, n = done+atOnce, n+1 {
		t.Run("schedules", func(t *testing.T) {
			t.Logf("-ledger.seed %d", first+n)
			w := newWorld(t, h, rand.New(rand.NewPCG(first+n, 1)), min(atOnce, all-done))
			defer w.end()
			w.play()
		})
	}
	t.Logf("%d schedules in %v", all, time.Since(began).Round(time.Millisecond))
}
