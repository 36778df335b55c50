package postgres

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/test/harness"
)

// fresh is an empty database.
func fresh(t *testing.T) (string, bool) {
	t.Helper()
	pg, ok := harness.Postgres(t)
	if !ok {
		return "", false
	}
	return pg.NewDatabase(t), true
}

func (p *process) slot() int { return p.w.IDs().Next().Slot() }

// leave begins exchanges that nobody will end, and ends others.
func (p *process) leave(unfinished, ended int) {
	p.t.Helper()
	for range unfinished {
		if _, ticket := p.begin(); ticket.Wait(p.t.Context()) != nil {
			p.t.Fatal("an exchange could not begin")
		}
	}
	for range ended {
		if _, err := p.spend(p.t.Context()); err != nil {
			p.t.Fatal(err)
		}
	}
}

// abandon ends the process without ado. Its store says good-bye, if it still can.
func (p *process) abandon() {
	p.end()
	<-p.ended
	p.store.Close()
}

func wantBooks(t *testing.T, at string, want books) {
	t.Helper()
	if got, _ := read(t, at); got != want {
		t.Errorf("the ledger says %+v, want %+v", got, want)
	}
}

func TestWritersSpendAtOnce(t *testing.T) {
	at, ok := fresh(t)
	if !ok {
		return
	}
	var all []*process
	var stops []func() []ledger.ID
	for range 3 {
		p := start(t, at, pace)
		all, stops = append(all, p), append(stops, p.busy(10))
	}
	for _, p := range all {
		eventually(t, "each spends", func() bool { return p.begun.Load() > 500 })
	}
	n := 0
	for i, p := range all {
		n += len(stops[i]())
		if p.slot() != i {
			t.Errorf("writer %d has slot %d", i, p.slot())
		}
		p.stop()
	}
	wantBooks(t, at, books{n, n, 0, charges * int64(n), charges * int64(n), charges * int64(n)})
}

func TestWritersThatStartTogetherMakeOneLedger(t *testing.T) {
	at, ok := fresh(t)
	if !ok {
		return
	}
	const together = 10
	var wait sync.WaitGroup
	var mu sync.Mutex
	slots := map[int]bool{}
	for range together {
		wait.Go(func() {
			store, err := open(t.Context(), at, brisk)
			if err != nil {
				t.Error(err)
				return
			}
			defer store.Close()
			past, err := store.Resume(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			slots[past.Slot] = true
			here := len(slots)
			mu.Unlock()
			if here < together {
				eventually(t, "all have slots", func() bool { mu.Lock(); defer mu.Unlock(); return len(slots) == together || t.Failed() })
			}
		})
	}
	wait.Wait()
	for slot := range together {
		if !slots[slot] {
			t.Errorf("nobody has slot %d: %v", slot, slots)
		}
	}
}

// A writer that nothing is heard of is adopted by one of those that are there; nothing it does afterwards counts.
func TestDeadWriterIsAdoptedOnce(t *testing.T) {
	at, ok := fresh(t)
	if !ok {
		return
	}
	by, network := linked(t, at)
	dead := start(t, by, brisk)
	dead.leave(7, 20)
	id, ticket := dead.begin()
	if err := ticket.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	network.set(true)
	dead.w.End(&ledger.End{Exchange: id, Basis: ledger.Reported, Charges: charge(1)}) // too late, as it turns out

	var others []*process
	for range 4 {
		others = append(others, start(t, at, brisk))
	}
	eventually(t, "it is adopted", func() bool { b, _ := read(t, at); return b.Unfinished == 0 })
	want := books{28, 28, 0, 20*charges + 8*reserves, 20*charges + 8*reserves, 20*charges + 8*reserves}
	wantBooks(t, at, want)

	network.set(false)
	if err := <-dead.ended; !errors.Is(err, ledger.ErrFenced) {
		t.Errorf("the writer that was taken for dead ends with %v, want an error that matches ErrFenced", err)
	}
	if err := dead.w.Err(); !errors.Is(err, ledger.ErrFenced) || !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("the writer that was taken for dead says %v, want errors that match ErrFenced and ErrUnavailable", err)
	}
	wantBooks(t, at, want)
	adopted := int64(0)
	for _, p := range others {
		n, trouble := p.store.Adopted()
		if adopted += n; trouble != nil {
			t.Error(trouble)
		}
	}
	if adopted != 8 {
		t.Errorf("%d exchanges were adopted, want 8", adopted)
	}
	if p := start(t, at, brisk); p.slot() != 0 || p.crashed != 0 {
		t.Errorf("a new writer gets slot %d with %d exchanges to end, want the dead one's, 0, with none", p.slot(), p.crashed)
	}
}

// A writer that could give no sign of life for long spends nothing until it has given one, and nothing at all once it was adopted.
func TestSilentWriterSpendsNothing(t *testing.T) {
	at, ok := fresh(t)
	if !ok {
		return
	}
	by, network := linked(t, at)
	p := start(t, by, brisk)
	p.leave(1, 1)
	network.set(true)
	eventually(t, "it is silent", func() bool { return !p.store.Living() })
	network.set(false)
	eventually(t, "it lives", func() bool { return p.store.Living() && p.w.Admit() == nil })

	network.set(true)
	other := start(t, at, brisk)
	eventually(t, "it is adopted", func() bool { n, _ := other.store.Adopted(); return n == 1 })
	if p.store.Living() {
		t.Error("it was taken for dead before it thought so itself")
	}
	network.set(false)
	if err := <-p.ended; !errors.Is(err, ledger.ErrFenced) {
		t.Errorf("it ends with %v, want an error that matches ErrFenced", err)
	}
	time.Sleep(5 * brisk.Beat)
	if p.store.Living() || !other.store.Living() {
		t.Errorf("of two writers, the one that was adopted lives: %t; the other: %t", p.store.Living(), other.store.Living())
	}
}

// A writer that stands still in the middle of a commit holds nobody up for as long as calls wait.
func TestStandingStillHoldsUpNobodyForLong(t *testing.T) {
	at, ok := fresh(t)
	if !ok {
		return
	}
	p := start(t, at, pace)
	p.leave(0, 1)
	p.stop() // its sums are there
	config, err := parse(at)
	if err != nil {
		t.Fatal(err)
	}
	db := dialect{config: config}.connect(toWrite)
	defer db.Close()
	still, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer still.Rollback()
	for _, statement := range []string{"UPDATE spent SET n = n", "UPDATE hours SET requests = requests", "UPDATE days SET requests = requests"} {
		result, err := still.ExecContext(t.Context(), statement)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := result.RowsAffected(); n == 0 || err != nil {
			t.Fatalf("%s locks %d rows, %v", statement, n, err)
		}
	}
	p = start(t, at, pace)
	longest := time.Duration(0)
	for began := time.Now(); time.Since(began) < 4*time.Second; {
		one := time.Now()
		if _, err := p.spend(t.Context()); err != nil {
			t.Fatal(err)
		}
		longest = max(longest, time.Since(one))
	}
	if longest < time.Second || longest > 5*time.Second {
		t.Errorf("the longest that an exchange waited was %v; want a while, and less than five seconds", longest)
	}
	if err := still.Commit(); err == nil {
		t.Error("whoever stood still could commit")
	}
}

// What a writer leaves open when it stops is ended at the next start, whoever starts.
func TestStoppedWritersAreAdoptedAtOnce(t *testing.T) {
	at, ok := fresh(t)
	if !ok {
		return
	}
	first, second, third := start(t, at, pace), start(t, at, pace), start(t, at, pace)
	first.leave(3, 1)
	second.leave(4, 1)
	third.leave(5, 1)
	for _, p := range []*process{first, second, third} {
		p.abandon()
	}
	p := start(t, at, pace)
	if p.slot() != 0 || p.crashed != 3 {
		t.Errorf("the next writer gets slot %d and ends %d exchanges, want slot 0 and 3", p.slot(), p.crashed)
	}
	if n, trouble := p.store.Adopted(); n != 9 || trouble != nil {
		t.Errorf("of other writers it has ended %d exchanges, %v; want 9", n, trouble)
	}
	p.stop()
	sum := int64(3*charges + 12*reserves)
	wantBooks(t, at, books{15, 15, 0, sum, sum, sum})
}

// A database that nobody could reach has killed nobody.
func TestLongOutageOfPostgresKillsNoWriter(t *testing.T) {
	pg, ok := harness.StartPostgres(t)
	if !ok {
		return
	}
	a, b := start(t, pg.URL(), brisk), start(t, pg.URL(), brisk)
	a.leave(2, 1)
	b.leave(3, 1)
	pg.Stop(t)
	time.Sleep(brisk.Grace + brisk.Grace/2)
	pg.Start(t)
	late := start(t, pg.URL(), brisk) // it looks at the others from the first moment on
	time.Sleep(brisk.Grace + brisk.Grace/2)
	for _, p := range []*process{a, b, late} {
		p.leave(0, 1)
		if n, trouble := p.store.Adopted(); n != 0 || trouble != nil {
			t.Errorf("writer %d has adopted %d exchanges, %v; want none", p.slot(), n, trouble)
		}
	}
	eventually(t, "5 exchanges have ended, and 5 are unfinished", func() bool {
		got, _ := read(t, pg.URL())
		return got.Unfinished == 5 && got.Requests == 5
	})
}
