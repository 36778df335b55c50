package ledger_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// memory is a store that keeps rows in memory, has bad days when it is told to, and judges every batch: what a writer must
// never do fails the test.
type memory struct {
	t testing.TB

	// Commit calls these, if they are set, before a batch is written, and after. Where they return an error, so does Commit:
	// the one has written nothing then, the other has. Guarded by mu.
	before, after func(ctx context.Context, b *ledger.Batch) error

	mu        sync.Mutex
	committed []commit
	rows      map[ledger.ID]*ledger.Exchange
	open      map[ledger.ID]bool // the rows that have no end
	tail      []*ledger.Exchange // the rows that are not in the sums
	corrected []ledger.Correction
	refused   map[ledger.Refusal]int64
	notices   []ledger.Notice
	prices    []ledger.PriceCard
	newest    ledger.ID // of the seqs
	rolled    ledger.ID
	hours     map[ledger.Hour]ledger.Sums
	slots     map[ledger.Slot]int64
	dropped   []time.Time // what Prune was asked for
	tried     *ledger.Batch
	writing   bool
}

// commit is one that was made.
type commit struct {
	at    time.Time
	batch *ledger.Batch
}

func newMemory(t testing.TB) *memory {
	return &memory{
		t: t, rows: map[ledger.ID]*ledger.Exchange{}, open: map[ledger.ID]bool{}, refused: map[ledger.Refusal]int64{},
		hours: map[ledger.Hour]ledger.Sums{}, slots: map[ledger.Slot]int64{},
	}
}

// Resume tells what is there, for one writer of slot 0.
func (m *memory) Resume(context.Context) (*ledger.Past, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := &ledger.Past{Batch: int64(len(m.committed)), Last: max(m.newest, m.rolled)}
	for id, x := range m.rows {
		p.Last = max(p.Last, id)
		switch {
		case x.End == nil:
			p.Unfinished = append(p.Unfinished, *x)
		case x.End.Seq > m.rolled:
			p.Tail = append(p.Tail, *x)
		}
	}
	for _, c := range m.corrected {
		if c.Seq > m.rolled {
			p.Corrected = append(p.Corrected, c)
		}
	}
	p.Died = p.Last
	return p, nil
}

// Commit judges a batch and keeps it.
func (m *memory) Commit(ctx context.Context, b *ledger.Batch) error {
	m.mu.Lock()
	if m.writing {
		m.t.Error("two commits at once")
	}
	if m.tried != nil && m.tried != b {
		m.t.Errorf("batch %d is tried, and batch %d was not written", b.Number, m.tried.Number)
	}
	m.writing, m.tried = true, b
	before, after := m.before, m.after
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		m.writing = false
		m.mu.Unlock()
	}()
	if before != nil {
		if err := before(ctx, b); err != nil {
			return err
		}
	}
	m.mu.Lock()
	if b.Number == int64(len(m.committed))+1 {
		m.keep(b)
	} else if b.Number != int64(len(m.committed)) {
		m.t.Errorf("batch %d after %d", b.Number, len(m.committed))
	}
	m.mu.Unlock()
	if after != nil {
		if err := after(ctx, b); err != nil {
			return err
		}
	}
	m.mu.Lock()
	m.tried = nil
	m.mu.Unlock()
	return nil
}

func (m *memory) keep(b *ledger.Batch) {
	m.committed = append(m.committed, commit{time.Now(), b})
	for _, r := range b.Begins {
		if m.rows[r.Exchange] != nil {
			m.t.Errorf("%v begins twice", r.Exchange)
		}
		m.rows[r.Exchange], m.open[r.Exchange] = &ledger.Exchange{Begin: *r}, true
	}
	for _, d := range b.Draws {
		if x := m.rows[d.Exchange]; x == nil || x.End != nil {
			m.t.Errorf("%v draws, and has not begun, or has ended", d.Exchange)
		} else {
			x.Draws = append(x.Draws, *d)
		}
	}
	for _, e := range b.Ends {
		if x := m.rows[e.Exchange]; x == nil || x.End != nil {
			m.t.Errorf("%v ends, and has not begun, or has ended", e.Exchange)
		} else {
			x.End, m.tail = e, append(m.tail, x)
			delete(m.open, e.Exchange)
		}
		m.inOrder(e.Seq)
	}
	m.newest = max(m.newest, newestOf(b))
	for _, c := range b.Corrections {
		m.corrected = append(m.corrected, *c)
	}
	for _, r := range b.Refusals {
		n := r.N
		r.N = 0
		m.refused[r] += n
	}
	m.notices, m.prices = append(m.notices, b.Notices...), append(m.prices, b.Prices...)
	oldest := ledger.ID(0)
	for id := range m.open {
		if oldest == 0 || id < oldest {
			oldest = id
		}
	}
	if b.Oldest != oldest {
		m.t.Errorf("batch %d: the oldest that is open is said to be %v, and is %v", b.Number, b.Oldest, oldest)
	}
	if b.Rolled != nil {
		m.roll(b)
	}
}

func (m *memory) inOrder(seq ledger.ID) {
	if seq <= m.newest {
		m.t.Errorf("row %v comes after row %v", seq, m.newest)
	}
	if seq <= m.rolled {
		m.t.Errorf("row %v comes after rows up to %v were said to be in the sums", seq, m.rolled)
	}
	m.newest = seq
}

func newestOf(b *ledger.Batch) (newest ledger.ID) {
	for _, e := range b.Ends {
		newest = max(newest, e.Seq)
	}
	for _, c := range b.Corrections {
		newest = max(newest, c.Seq)
	}
	return newest
}

// roll holds what is added to the sums against the rows that were not in them.
func (m *memory) roll(b *ledger.Batch) {
	var ended []ledger.Exchange
	var corrected []ledger.Correction
	m.tail = slices.DeleteFunc(m.tail, func(x *ledger.Exchange) bool {
		if x.End.Seq <= b.Rolled.Upto {
			ended = append(ended, *x)
		}
		return x.End.Seq <= b.Rolled.Upto
	})
	for _, c := range m.corrected {
		if c.Seq > m.rolled && c.Seq <= b.Rolled.Upto {
			corrected = append(corrected, c)
		}
	}
	m.rolled = max(m.rolled, b.Rolled.Upto)
	want, got := ledger.RollOf(ended, corrected), b.Rolled
	if got, want := sumOfHours(got), sumOfHours(want); got != want {
		m.t.Errorf("batch %d: the sums are %+v, and the rows come to %+v", b.Number, got, want)
	}
	if !maps.Equal(want.Slots, got.Slots) {
		m.t.Errorf("batch %d: slots (-want +got):\n%s", b.Number, cmp.Diff(want.Slots, got.Slots))
	}
	for h, s := range got.Hours {
		sums := m.hours[h]
		sums.Add(*s)
		m.hours[h] = sums
	}
	for s, n := range got.Slots {
		m.slots[s] += n
	}
}

func sumOfHours(r *ledger.Roll) (all ledger.Sums) {
	for _, s := range r.Hours {
		all.Add(*s)
	}
	return all
}

// Prune notes that it was called, and drops nothing.
func (m *memory) Prune(_ context.Context, before time.Time, _ int) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropped = append(m.dropped, before)
	return 0, nil
}

func (m *memory) Snapshot(context.Context) (ledger.Snapshot, error) {
	return nil, errors.New("this store is read by its tests alone")
}

func (m *memory) Close() error { return nil }

// look calls f while nothing is written.
func (m *memory) look(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

func (m *memory) commits() (n int) {
	m.look(func() { n = len(m.committed) })
	return n
}

func (m *memory) has(id ledger.ID) (there bool) {
	m.look(func() { there = m.rows[id] != nil })
	return there
}

// onCommit sets what happens before and after a batch is written.
func (m *memory) onCommit(before, after func(context.Context, *ledger.Batch) error) {
	m.look(func() { m.before, m.after = before, after })
}

var errBroken = errors.New("the disk is broken")

func broken(context.Context, *ledger.Batch) error { return errBroken }

// balanced holds the sums against the rows once all is rolled up.
func (m *memory) balanced() {
	m.t.Helper()
	m.look(func() {
		var ended []ledger.Exchange
		for id, x := range m.rows {
			if x.End == nil {
				m.t.Errorf("%v has not ended", id)
				continue
			}
			ended = append(ended, *x)
		}
		want := ledger.RollOf(ended, m.corrected)
		var sums ledger.Sums
		for _, s := range m.hours {
			sums.Add(s)
		}
		if sums != sumOfHours(want) {
			m.t.Errorf("the sums are %+v, and the rows come to %+v", sums, sumOfHours(want))
		}
		if !maps.Equal(want.Slots, m.slots) {
			m.t.Errorf("slots (-rows +sums):\n%s", cmp.Diff(want.Slots, m.slots))
		}
	})
}

// run starts a writer over a store. What it returns ends the writer, and returns what Run did.
func run(t testing.TB, m ledger.Store, o ledger.Options) (w *ledger.Writer, stop func() error) {
	t.Helper()
	w, _, err := ledger.Open(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	return w, func() error {
		cancel()
		return <-ended
	}
}

// stopped ends a writer that has to write all that is left.
func stopped(t testing.TB, stop func() error) {
	t.Helper()
	if err := stop(); err != nil {
		t.Errorf("run: %v", err)
	}
}

// begun is a begin row of a key, made now.
func begun(w *ledger.Writer, key string, n int64) *ledger.Begin {
	return &ledger.Begin{
		Exchange: w.IDs().Next(), Series: ledger.Series{Key: key}, Model: "model", Most: cost.Usage{Input: n}, Reserved: cost.NanoUSD(n),
		Charges: []ledger.Charge{{Budget: ledger.Budget{Name: key, Unit: "tokens"}, N: n}},
	}
}

// ended is the end row to it.
func ended(b *ledger.Begin, n int64) *ledger.End {
	return &ledger.End{
		Exchange: b.Exchange, Status: 200, Ending: "complete", Basis: ledger.Reported, Usage: cost.Usage{Input: n}, Cost: cost.NanoUSD(n),
		Charges: []ledger.Charge{{Budget: b.Charges[0].Budget, N: n}},
	}
}

// corrected is a correction of it.
func corrected(b *ledger.Begin, n int64) *ledger.Correction {
	return &ledger.Correction{
		Exchange: b.Exchange, Series: b.Series, Model: b.Model, Was: ledger.Reported, Basis: ledger.Counted, Usage: cost.Usage{Input: n}, Cost: cost.NanoUSD(n),
		Charges: []ledger.Charge{{Budget: b.Charges[0].Budget, N: n}}, Reason: "bill",
	}
}

// durable waits for a row.
func durable(t testing.TB, ticket ledger.Ticket) {
	t.Helper()
	if err := ticket.Wait(t.Context()); err != nil {
		t.Errorf("wait for a row: %v", err)
	}
}

// unavailable waits for a row that does not become durable.
func unavailable(t testing.TB, ticket ledger.Ticket) {
	t.Helper()
	if err := ticket.Wait(t.Context()); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("wait for a row: %v, want an error that matches ErrUnavailable", err)
	}
}

func seqs(list []*ledger.End) (all []ledger.ID) {
	for _, e := range list {
		all = append(all, e.Seq)
	}
	return all
}
