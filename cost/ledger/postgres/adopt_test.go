package postgres

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlstore"
)

// Writers that crash again and again before anybody adopts them do not use up the slots.
func TestSlotsOfTheDeadAreTakenWhenAllAre(t *testing.T) {
	at, ok := fresh(t)
	if !ok {
		return
	}
	dead := start(t, at, brisk)
	dead.leave(6, 0)
	dead.abandon()
	db := administrator(t, at)
	_, err := db.ExecContext(t.Context(), `UPDATE writers SET seen = 1`)
	if err == nil {
		_, err = db.ExecContext(t.Context(), `INSERT INTO writers (slot, held, batch, rolled, oldest, seen) SELECT n, 1, 1, 0, 0, 1 FROM generate_series(1, $1) AS n`, ledger.Slots-1)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, at, brisk)
	if p.slot() != 0 || p.crashed != 6 {
		t.Errorf("the writer gets slot %d and ends %d exchanges, want slot 0 and 6", p.slot(), p.crashed)
	}
}

// However a writer that is taken for dead too early gets in the way of its adopters, each exchange is charged once: what was
// reserved, or what its end row says.
func TestHastyAdoptionChargesOnce(t *testing.T) {
	at, ok := fresh(t)
	if !ok {
		return
	}
	for range 3 {
		start(t, at, sqlstore.Pace{Beat: 10 * time.Millisecond, Grace: 25 * time.Millisecond})
	}
	durable, fenced := 0, 0
	for end := time.Now().Add(10 * time.Second); fenced < 10 && time.Now().Before(end); {
		p := start(t, at, sqlstore.Pace{Beat: time.Minute, Grace: time.Hour})
		durable += p.untilFenced(3)
		if err := <-p.ended; !errors.Is(err, ledger.ErrFenced) {
			t.Fatal(err)
		}
		fenced++
	}
	eventually(t, "all are adopted", func() bool { b, _ := read(t, at); return b.Unfinished == 0 })
	got, _ := read(t, at)
	if got.Hours != got.Rows || got.Spent != got.Rows || got.Requests != got.Exchanges || got.Exchanges < durable {
		t.Errorf("the ledger says %+v; its sums should be those of its rows, and %d exchanges were durable", got, durable)
	}
	if fenced == 0 {
		t.Error("no writer was fenced")
	}
}

// untilFenced spends, with pauses in which a writer may look dead, until it is taken for dead. It returns how many exchanges
// are durable.
func (p *process) untilFenced(callers int) int {
	var wait sync.WaitGroup
	for range callers {
		wait.Go(func() {
			for p.w.Err() == nil {
				id, ticket := p.begin()
				for ticket.Wait(contextOf(p.t, 20*time.Millisecond)) != nil {
					if errors.Is(p.w.Err(), ledger.ErrFenced) {
						return
					}
				}
				p.begun.Add(1)
				time.Sleep(time.Duration(id>>10) % 60 * time.Millisecond)
				p.w.End(&ledger.End{Exchange: id, Basis: ledger.Reported, Usage: usage(charges), Charges: charge(charges)})
			}
		})
	}
	wait.Wait()
	return int(p.begun.Load())
}
