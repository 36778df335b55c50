package postgres

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlstore"
)

// brisk is a pace at which tests do not take long, and a busy machine kills nobody.
var brisk = sqlstore.Pace{Beat: 100 * time.Millisecond, Grace: 2 * time.Second}

// process is one that spends: a store and its writer.
type process struct {
	t     *testing.T
	store *sqlstore.Store
	w     *ledger.Writer

	crashed int // exchanges that Open has ended
	end     context.CancelFunc
	ended   chan error

	begun, spent atomic.Int64 // exchanges whose begin row is durable, and what the ended ones of them were charged
}

// start starts a process. It ends with the test, if not before.
func start(t *testing.T, at string, pace sqlstore.Pace) *process {
	t.Helper()
	store, err := open(t.Context(), at, pace)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, store: store, ended: make(chan error, 1)}
	p.w, p.crashed, err = ledger.Open(t.Context(), store, ledger.Options{Patience: time.Minute, RollEvery: 50 * time.Millisecond, RollIdle: 300 * time.Millisecond})
	if err != nil {
		store.Close()
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	p.end = cancel
	go func() { p.ended <- p.w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		store.Close()
	})
	return p
}

// stop ends the process when all is written.
func (p *process) stop() {
	p.t.Helper()
	p.end()
	if err := <-p.ended; err != nil {
		p.t.Errorf("drain: %v", err)
	}
	if err := p.store.Close(); err != nil {
		p.t.Errorf("close: %v", err)
	}
}

// Every exchange reserves as much, and is charged less.
const (
	reserves = 100
	charges  = 60
)

func charge(n int64) []ledger.Charge {
	return []ledger.Charge{{Budget: ledger.Budget{Name: "team", Unit: "tokens"}, N: n}}
}

func usage(n int64) cost.Usage { return cost.Usage{Input: n} }

func (p *process) begin() (ledger.ID, ledger.Ticket) {
	id := p.w.IDs().Next()
	return id, p.w.Begin(&ledger.Begin{
		Exchange: id, Series: ledger.Series{Key: "key", Endpoint: "chat", Upstream: "u"}, Model: "m",
		Most: usage(reserves), Charges: charge(reserves),
	})
}

// spend makes one exchange. It returns when that is as good as over: its end row is queued.
func (p *process) spend(ctx context.Context) (ledger.ID, error) {
	id, ticket := p.begin()
	if err := ticket.Wait(ctx); err != nil {
		return id, err
	}
	p.begun.Add(1)
	p.w.End(&ledger.End{Exchange: id, Status: 200, Basis: ledger.Reported, Usage: usage(charges), Charges: charge(charges)})
	p.spent.Add(charges)
	return id, nil
}

// busy spends from many goroutines until the returned function is called, which returns the exchanges that are durable.
func (p *process) busy(callers int) (stop func() []ledger.ID) {
	ctx, cancel := context.WithCancel(p.t.Context())
	var wait sync.WaitGroup
	var mu sync.Mutex
	var all []ledger.ID
	for range callers {
		wait.Go(func() {
			var ids []ledger.ID
			for ctx.Err() == nil {
				id, err := p.spend(p.t.Context())
				if err != nil {
					p.t.Errorf("an exchange was not recorded: %v", err)
					break
				}
				ids = append(ids, id)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, ids...)
		})
	}
	return func() []ledger.ID {
		cancel()
		wait.Wait()
		return all
	}
}

// books are what a ledger says in the end.
type books struct {
	Exchanges, Requests, Unfinished int
	Hours, Rows, Spent              int64 // three ways to add up what was charged
}

func read(t *testing.T, at string) (books, map[ledger.ID]*ledger.Exchange) {
	t.Helper()
	store, err := OpenReader(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s, err := store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b books
	rows := map[ledger.ID]*ledger.Exchange{}
	from, to := time.Now().Add(-24*time.Hour), time.Now().Add(24*time.Hour)
	err = s.Began(t.Context(), from, to, func(x *ledger.Exchange) error {
		b.Exchanges++
		rows[x.Begin.Exchange] = x
		if x.End != nil {
			b.Rows += x.End.Charges[0].N
		} else {
			b.Rows += x.Begin.Charges[0].N
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Hours(t.Context(), ledger.HourQuery{From: from, To: to}, func(_ ledger.Hour, sums ledger.Sums) error {
		b.Requests += int(sums.Requests)
		b.Hours += sums.Input
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Spends(t.Context(), []ledger.Want{{Budget: "team"}}, func(_ int, _ time.Time, n int64) error {
		b.Spent += n
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	open, err := s.Unfinished(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.Unfinished = len(open)
	return b, rows
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); !so(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("after 30 s it is still not so: %s", what)
		}
	}
}

// contextOf ends after a while.
func contextOf(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
