package soak

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/postgres"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// TestRollingRestart replaces the program by another one behind a balancer, while long streams run and new calls come all the time:
// every one of them is answered as if nothing happened, and charged once. Each program has a ledger of its own, or they share one.
func TestRollingRestart(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		dir := t.TempDir()
		urls := [2]string{"sqlite:" + filepath.Join(dir, "old.db"), "sqlite:" + filepath.Join(dir, "new.db")}
		rollOver(t, urls, func() (rows map[int]*ledger.Exchange) {
			rows = map[int]*ledger.Exchange{}
			for _, url := range urls {
				store, err := sqlite.OpenReader(t.Context(), url[len("sqlite:"):])
				if err != nil {
					t.Fatal(err)
				}
				addRows(t, rows, store)
			}
			return rows
		})
	})
	t.Run("postgres", func(t *testing.T) {
		pg, ok := harness.Postgres(t)
		if !ok {
			return
		}
		url := pg.NewDatabase(t)
		rollOver(t, [2]string{url, url}, func() map[int]*ledger.Exchange {
			store, err := postgres.OpenReader(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			rows := map[int]*ledger.Exchange{}
			addRows(t, rows, store)
			return rows
		})
	})
}

// addRows adds a ledger's calls to those of others, which have none of them.
func addRows(t *testing.T, rows map[int]*ledger.Exchange, store ledger.Store) {
	t.Helper()
	defer store.Close()
	for number, x := range readStore(t, store) {
		if rows[number] != nil {
			t.Errorf("call %d is in two ledgers", number)
		}
		rows[number] = x
	}
}

const (
	longStreams = 200
	longWords   = 150 // of one token each
)

func rollOver(t *testing.T, urls [2]string, read func() map[int]*ledger.Exchange) {
	plans := func(number int) plan {
		p := plan{number: number, key: "alice", kind: plain, day: whole, way: reads, words: 10, most: 20}
		switch {
		case number <= longStreams:
			p.kind, p.words, p.most, p.pace, p.gated = stream, longWords, longWords, 5*time.Millisecond, true
		case number%2 == 0:
			p.kind, p.pace = streamAsked, time.Millisecond
		}
		return p
	}
	up := newUpstream(t, plans, fakeopenai.Plain)
	start := func(url string) *harness.Program {
		return harness.Start(t, harness.Config{
			Upstream: up.http.URL + "/v1", Limits: []string{"10b tokens in total", "1000 at once", "$90000 each month"},
			Models: pricedModels("fake", "gpt-4o-mini"), More: fmt.Sprintf("ledger: { url: %q }\ntimeouts: { shutdown_delay: 1s, drain: 60s }\n", url),
		})
	}
	before := start(urls[0])
	b := balance(t, before)
	c := newClients(b.address, map[string]string{"alice": harness.Alice}, plans)
	var long sync.WaitGroup
	for range longStreams {
		long.Go(func() { c.one() })
	}
	harness.Eventually(t, "all streams run", func() bool {
		open, _ := before.Metrics(t).Sum("tokenfare_open_reservations")
		return open == longStreams
	})

	ctx, stop := context.WithCancel(t.Context())
	var brief sync.WaitGroup
	brief.Go(func() { c.run(ctx, 16) }) // over connections that they keep
	harness.Eventually(t, "new calls come", func() bool { return asked(t, before) > longStreams+50 })
	after := start(urls[1])
	b.add(after)
	harness.Eventually(t, "the balancer has found it", func() bool { return b.knows(before, after) })
	before.Terminate(t)
	harness.Eventually(t, "new connections go to the new one alone", func() bool { return b.knows(after) })
	last := asked(t, after)
	harness.Eventually(t, "the new one serves them", func() bool { return asked(t, after) > last+20 })
	close(up.gate)
	long.Wait()
	before.WantExit(t, 0)
	stop()
	brief.Wait()
	after.WantIdle(t)
	after.Stop(t)

	c.judge()
	all := &books{t: t, plans: plans, rows: read(), accounts: up.list(), calls: c.calls}
	all.balance()
	for number, got := range c.calls {
		x := all.rows[number]
		if got.status != http.StatusOK || !got.clean || !got.done || x == nil || x.End.Ending != "complete" {
			t.Errorf("call %d: %s", number, got)
		}
	}
	if len(all.rows) != len(c.calls) || len(all.accounts) != len(c.calls) {
		t.Errorf("%d calls were made, the upstream has %d, and the ledgers %d", len(c.calls), len(all.accounts), len(all.rows))
	}
	t.Log(all.table())
}

// asked is how many calls a program has admitted so far.
func asked(t *testing.T, p *harness.Program) int {
	t.Helper()
	m := p.Metrics(t)
	ended, _ := m.Sum("tokenfare_endings_total")
	open, _ := m.Sum("tokenfare_open_reservations")
	return int(ended + open)
}
