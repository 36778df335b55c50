package sqlite_test

import (
	"flag"
	"runtime"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// rows makes the benchmark a long one: -rows 10000000.
var rows = flag.Int("rows", 20_000, "exchanges of the ledger that is verified")

// BenchmarkVerify verifies a ledger of ninety days.
func BenchmarkVerify(b *testing.B) {
	k := newKeeper(b, 1, 100)
	k.work(*rows, time.Now().Add(-90*24*time.Hour), 90*24*time.Hour)
	k.finished, k.ended, k.revised = nil, nil, nil
	var most uint64
	for b.Loop() {
		r := k.report(ledger.VerifyOptions{Progress: func(time.Time, int64) {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}})
		if !r.Balances() || r.Exchanges != int64(*rows) {
			b.Fatalf("%d exchanges, %d corrections: %+v", r.Exchanges, r.Corrections, r.Differences)
		}
	}
	b.ReportMetric(float64(*rows)*float64(b.N)/b.Elapsed().Seconds(), "exchanges/s")
	b.ReportMetric(float64(most)/(1<<20), "MiB")
}
