package sqlite_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// callers is how many make exchanges at once, each waiting for its begin row, as the proxy does before the first byte.
var callers = []int{1, 16, 200}

// each runs f b.N times, by so many callers.
func each(b *testing.B, callers int, f func() error) {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	b.ResetTimer()
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
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "exchanges/s")
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
				begin, end := exchange(w.IDs().Next(), 1000)
				ticket := w.Begin(begin)
				err := ticket.Wait(b.Context())
				w.End(end)
				return err
			})
			if err := stop(); err != nil {
				b.Error(err)
			}
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
