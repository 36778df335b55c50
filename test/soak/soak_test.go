package soak

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/test/harness"
)

const (
	workers = 24        // call at the same time
	calls   = 2_000_000 // at most, whatever time there is for them: all are remembered, and so is their log
)

// TestSoak drives the program with everything at once, and compares the books in the end: whatever happens to a call, it is charged what
// the table of endings says, once; no budget is ever over; nothing is left behind.
func TestSoak(t *testing.T) {
	plans := func(number int) plan { return planOf(*seed, number) }
	up := newUpstream(t, plans, wire(t))
	s := openShop(t, up)
	c := newClients(s.address(), s.secrets, plans)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	driven := make(chan struct{})
	go func() {
		defer close(driven)
		c.rest = *lasts * workers / calls
		c.run(ctx, workers)
	}()
	trouble(t, s, c)
	stop()
	<-driven
	c.http.CloseIdleConnections()

	s.program.WantIdle(t)
	s.program.Rewrite(t, s.yaml(""))
	end := awaitBase(t, s.program, s.base, 8<<20, up.http.CloseClientConnections)
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte(s.yaml("")), 0o600); err != nil {
		t.Fatal(err)
	}
	verify(t, s.ledger, s.program, config)
	live := used(t, s.program)
	panics, _ := s.program.Metrics(t).Sum("tokenfare_panics_total")
	failures, _ := s.program.Metrics(t).Sum("tokenfare_settle_failures_total")
	if panics+failures > 0 {
		t.Errorf("%v panics, %v failures to settle", panics, failures)
	}
	s.program.Stop(t)
	s.readLog(t)
	for i, line := range s.errors {
		if i < 5 {
			t.Errorf("nobody expected this in the log: %s", line)
		}
	}
	verify(t, s.ledger, nil, config)

	c.judge()
	b := &books{t: t, plans: plans, rows: readLedger(t, s.ledger), accounts: up.list(), calls: c.calls, live: live}
	b.balance()
	for _, one := range budgets(t) {
		b.compare(one)
	}
	if most := up.most["few"]; most > 2 {
		t.Errorf("%d calls of key few ran at the same time", most)
	}
	if len(up.strays) > 0 {
		t.Errorf("requests nobody made went upstream: %v", up.strays)
	}
	t.Logf("%s\n%s\n%s", b.table(), b.owners(), counts(s.events))
	t.Logf("%d drains cut calls, the disk stalled %d times; budgets were rebuilt within %d ms; a program begins with %s, and the last one ended with %s", s.drains, s.stalls, s.rebuilt, s.base, end)
}

// trouble reconfigures, restarts and kills the program as long as the test lasts, and in turns: in a minute at least twice each, however slow
// the machine.
func trouble(t *testing.T, s *shop, c *clients) {
	r := rand.New(rand.NewPCG(*seed, 0))
	least := 0
	if *lasts >= time.Minute {
		least = 8 // two rounds
	}
	between := min(*lasts/20, time.Minute)
	for i, end := 0, time.Now().Add(*lasts); ; i++ {
		rest := between + time.Duration(r.IntN(500))*time.Millisecond
		if i >= least {
			rest = min(rest, time.Until(end))
		}
		pause(t.Context(), rest)
		if i >= least && !time.Now().Before(end) {
			return
		}
		switch i % 4 {
		case 0, 2:
			s.reload(t, r)
		case 1:
			s.restart(t, c, false)
		case 3:
			s.restart(t, c, true)
		}
		before := c.made()
		harness.Eventually(t, "calls go on", func() bool { return c.made() > before+workers })
	}
}
