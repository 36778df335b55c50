package postgres

import (
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/test/harness"
)

// Whatever was said to be durable is there after Postgres was restarted, whatever it was doing, and nothing is there twice.
// The process goes on by itself.
func TestRestartOfPostgresLosesAndDoublesNothing(t *testing.T) {
	for name, end := range map[string]func(*harness.PostgresServer, testing.TB){
		"stopped": (*harness.PostgresServer).Stop, "killed": (*harness.PostgresServer).Kill,
	} {
		t.Run(name, func(t *testing.T) {
			pg, ok := harness.StartPostgres(t)
			if !ok {
				return
			}
			p := start(t, pg.URL(), brisk)
			stop := p.busy(40)
			for range 3 {
				before := p.begun.Load()
				eventually(t, "it spends", func() bool { return p.begun.Load() > before+200 })
				end(pg, t)
				eventually(t, "the ledger is unavailable", func() bool { return p.w.Err() != nil })
				time.Sleep(50 * time.Millisecond)
				pg.Start(t)
				eventually(t, "the ledger is available again", func() bool { return p.w.Err() == nil })
			}
			durable := stop()
			p.stop()
			got, rows := read(t, pg.URL())
			for _, id := range durable {
				if x := rows[id]; x == nil || x.End == nil {
					t.Fatalf("%v was durable, and is not there: %+v", id, x)
				}
			}
			n := len(durable)
			if want := (books{n, n, 0, charges * int64(n), charges * int64(n), charges * int64(n)}); got != want {
				t.Errorf("the ledger says %+v, want %+v", got, want)
			}
		})
	}
}
