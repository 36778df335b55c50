package sqlite_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// callers is how many make exchanges at once, each waiting for its begin row, as the proxy does before the first byte.
var callers = []int{1, 8, 16, 200}

// each runs f b.N times, by so many callers.
func each(b *testing.B, callers int, f func() error) {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	b.ResetTimer()
	before := cpu(b)
	for range callers {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := f(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/1e3/float64(b.N), "cpu-µs/exchange")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "exchanges/s")
}

// served is an exchange as the proxy records one that three budgets are charged for.
func served(id ledger.ID) (*ledger.Begin, *ledger.End) {
	charges := func(tokens, nanoUSD int64) []ledger.Charge {
		return []ledger.Charge{
			{Budget: ledger.Budget{Name: "team-search: 2M tokens per day", Unit: "tokens"}, N: tokens},
			{Budget: ledger.Budget{Name: "team-search: $50 per month", Unit: "dollars"}, N: nanoUSD},
			{Budget: ledger.Budget{Name: "everybody: $900 per month", Unit: "dollars"}, N: nanoUSD},
		}
	}
	estimate := cost.Estimate{Input: 812, MaxOutput: 4096}
	estimate.ByPart[cost.PartMessages] = 800
	estimate.ByPart[cost.PartOverhead] = 12
	begin := &ledger.Begin{
		Exchange: id, Series: ledger.Series{Key: "search-frontend", Groups: "team-search", Endpoint: "/v1/chat/completions", Upstream: "openai"},
		Model: "gpt-4o-mini", Label: "nightly", Estimate: estimate, Most: cost.Usage{Input: 812, Output: 4096}, Reserved: 2_579_400,
		Price: "openai/gpt-4o-mini@2026-11-01", Charges: charges(4908, 2_579_400),
	}
	end := &ledger.End{
		Exchange: id, Status: 200, Ending: "complete", Basis: ledger.Reported, Usage: cost.Usage{Input: 812, CachedInput: 512, Output: 231}, Cost: 222_000,
		Took: 812 * time.Millisecond, FirstToken: 204 * time.Millisecond, UpstreamID: "req_7d3f5c2a90b84e1f8c6b2a1d0e9f7a63", Charges: charges(1043, 222_000),
	}
	return begin, end
}

// BenchmarkExchanges is a begin row that is waited for, and an end row, every one of them on the disk.
func BenchmarkExchanges(b *testing.B) {
	for _, n := range callers {
		b.Run(fmt.Sprintf("callers=%d", n), func(b *testing.B) {
			store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "usage.db"))
			if err != nil {
				b.Fatal(err)
			}
			defer store.Close()
			w, stop := writing(b, store, ledger.Options{})
			each(b, n, func() error {
				begin, end := served(w.IDs().Next())
				ticket := w.Begin(begin)
				err := ticket.Wait(b.Context())
				w.End(end)
				return err
			})
			if err := stop(); err != nil {
				b.Error(err)
			}
			b.ReportMetric(float64(w.Stats().Rows)/float64(w.Stats().Commits), "rows/commit")
		})
	}
}

// BenchmarkPlainInserts is what a program does that has a table and no writer: a statement for each row, in a transaction of its
// own, as durable.
func BenchmarkPlainInserts(b *testing.B) {
	for _, n := range callers {
		b.Run(fmt.Sprintf("callers=%d", n), func(b *testing.B) {
			db, err := sql.Open("sqlite", filepath.Join(b.TempDir(), "plain.db")+"?_pragma=busy_timeout(60000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)")
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			db.SetMaxOpenConns(1) // more of them wait for each other in SQLite, and take longer
			if _, err := db.Exec(`CREATE TABLE begins (id INTEGER PRIMARY KEY, key_name TEXT, model TEXT, reserved INTEGER);
				CREATE TABLE ends (id INTEGER PRIMARY KEY, status INTEGER, input INTEGER, output INTEGER, cost INTEGER)`); err != nil {
				b.Fatal(err)
			}
			var id atomic.Int64
			each(b, n, func() error {
				id := id.Add(1)
				if _, err := db.Exec(`INSERT INTO begins VALUES (?, ?, ?, ?)`, id, "key", "model", 1000); err != nil {
					return err
				}
				_, err := db.Exec(`INSERT INTO ends VALUES (?, ?, ?, ?, ?)`, id, 200, 1000, 0, 1000)
				return err
			})
		})
	}
}
