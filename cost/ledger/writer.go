package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// ErrUnavailable says that the ledger cannot be written to, and why. Nothing new should be spent meanwhile.
var ErrUnavailable = errors.New("the ledger cannot be written")

// Options are what a [Writer] is made of.
type Options struct {
	// Serve goes on while the ledger cannot be written: tickets do not fail, and exchanges that begin when there are MostQueued
	// rows already are not recorded, but counted and logged. Without it, admission is to stop as long as [Writer.Err] is not nil.
	Serve      bool
	MostQueued int           // rows in memory from which on exchanges are not recorded while the ledger cannot be written and Serve is set; zero means 100,000
	Gap        time.Duration // between the beginnings of two commits, so that a busy ledger is written in larger groups; zero means 2 ms
	Late       time.Duration // how long a row waits for others as long as nobody waits for it; zero means 40 ms
	Patience   time.Duration // how long a ticket waits; zero means 5 s
	RollEvery  time.Duration // how long the sums may be behind the rows; zero means a second
	RollIdle   time.Duration // how often a writer that has nothing to write says that all of its rows are in the sums, so that readers need not look for them among those of others; zero means never
	Keep       time.Duration // rows of exchanges that ended longer ago are dropped; zero means never
	Journal    Journal       // what waits for the store is there, and nobody else need wait; nil: whoever waits for a row waits for the store
	Log        *slog.Logger  // nil: nothing is logged
}

// Writer queues rows and commits them in groups. Its methods are safe for concurrent use and, but for
// [Writer.Owned], never wait for the store.
type Writer struct {
	options Options
	store   Store
	ids     *IDs
	slot    int

	mu    sync.Mutex
	next  *group // being filled; guarded by mu
	taken *group // the last one that was closed; nil: there is none; guarded by mu

	wake    chan struct{} // holds one: somebody waits for something in next
	later   chan struct{} // holds one: there is something in next, and nobody waits for it
	keeping chan struct{} // holds one while somebody uses the journal
	unkept  bool          // the journal could not be written the last time; belongs to whoever uses it
	sealed  bool          // nothing is kept any more; likewise

	// Belongs to Run.
	open   *openSet
	roll   *Roll
	rolled time.Time
	pruned time.Time // when there was last nothing to drop
	names  names
	told   adopted
	kept   *group      // that could not be written before Run was told to end
	calls  chan func() // to the store, one after the other
	deaf   bool        // the store is not to be called again

	committing atomic.Pointer[time.Time] // since when; nil: no commit runs

	failing atomic.Pointer[failure]
	alarm   atomic.Pointer[chan struct{}] // closed when the ledger begins to fail, and then replaced
	stats   counters
}

// failure is why the ledger cannot be written, and since when.
type failure struct {
	err   error
	since time.Time
}

// group is the rows of one commit.
type group struct {
	queued   Batch             // guarded by the writer's mu, until the group is taken; never changed thereafter
	refusals map[Refusal]int64 // by all but their number; likewise
	rows     int               // likewise
	upto     ID                // later rows have a larger Seq
	batch    Batch             // what is committed of it; Run's
	taken    atomic.Bool       // it is no longer filled: Run has it
	done     chan struct{}     // closed when the group is durable
	settled  atomic.Bool       // done is closed
	stored   atomic.Bool       // it is in the store

	kept   atomic.Int64 // so many of its rows are in the journal
	mark   mark         // the same by table; belongs to whoever uses the journal, as does all below
	noted  bool         // there is something of it in the journal, be it that it has no rows
	unkept bool         // the journal takes no more of it
}

func newGroup(slot int, number int64) *group {
	return &group{queued: Batch{Slot: slot, Number: number}, done: make(chan struct{})}
}

// Open resumes a ledger where its last writer stopped. Exchanges that were never ended, for the processes that served them
// are dead, are charged all they had reserved, and end when their process was last seen alive: their end rows go with the first
// commit. It returns how many those are.
func Open(ctx context.Context, store Store, o Options) (w *Writer, crashed int, err error) {
	past, err := store.Resume(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("open ledger: %w", err)
	}
	o.MostQueued = orDefault(o.MostQueued, 100_000)
	o.Gap = orDefault(o.Gap, 2*time.Millisecond)
	o.Late = orDefault(o.Late, 40*time.Millisecond)
	o.Patience = orDefault(o.Patience, 5*time.Second)
	o.RollEvery = orDefault(o.RollEvery, time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	ends, last := NewIDs(past.Slot, past.Died), past.Last
	var crashes []*End
	for i := range past.Unfinished {
		e := past.Unfinished[i].Crash()
		e.Seq = ends.Following()
		crashes, last = append(crashes, e), max(last, e.Seq)
	}
	w = &Writer{
		options: o, store: store, ids: NewIDs(past.Slot, last), slot: past.Slot,
		next: newGroup(past.Slot, past.Batch+1), wake: make(chan struct{}, 1), later: make(chan struct{}, 1), keeping: make(chan struct{}, 1),
		calls: make(chan func()), open: newOpenSet(), rolled: time.Now(),
	}
	if ahead := w.ids.ahead(); ahead > mostAhead {
		o.Log.Error("ledger dated ahead of the clock", "newest", past.Last.Time().UTC().Format(time.RFC3339), "ahead_s", int64(ahead/time.Second),
			"then", "calls are dated from there on until the clock has caught up, and no old rows are dropped; set the clock right and restart, or begin a new ledger if it was wrong then")
	}
	w.newAlarm()
	w.roll = newRoll(&w.names)
	for i := range past.Tail {
		w.roll.end(&past.Tail[i].Begin, past.Tail[i].End)
	}
	for i := range past.Corrected {
		w.roll.correct(&past.Corrected[i])
	}
	for i, e := range crashes {
		w.open.add(&past.Unfinished[i].Begin)
		w.queue(0, func(g *group) { g.queued.Ends = append(g.queued.Ends, e) })
	}
	if !w.roll.empty() {
		w.rolled = time.Time{} // at once
		rouse(w.wake)
	}
	return w, len(past.Unfinished), nil
}

func (w *Writer) newAlarm() {
	alarm := make(chan struct{})
	w.alarm.Store(&alarm)
}

func orDefault[T int | time.Duration](v, whenZero T) T {
	if v == 0 {
		return whenZero
	}
	return v
}

// IDs makes the ids of the exchanges that this writer records.
func (w *Writer) IDs() *IDs { return w.ids }

// Err returns nil while the ledger can be written, else an error that matches [ErrUnavailable].
func (w *Writer) Err() error {
	if f := w.failing.Load(); f != nil {
		return fmt.Errorf("%w since %s: %w", ErrUnavailable, f.since.UTC().Format(time.RFC3339), f.err)
	}
	return nil
}

// Begin queues a begin row. The row belongs to the writer from now on. It is written as soon as somebody waits for it, which is when
// the upstream has answered, or with others a few milliseconds later. If the ticket says that it is lost, the exchange must not be
// ended: it is not recorded at all.
func (w *Writer) Begin(b *Begin) Ticket {
	b.bound()
	return w.queue(2, func(g *group) { g.queued.Begins = append(g.queued.Begins, b) })
}

// Draw queues a draw row. The row belongs to the writer from now on.
func (w *Writer) Draw(d *Draw) Ticket {
	d.bound()
	return w.queue(0, func(g *group) { g.queued.Draws = append(g.queued.Draws, d) })
}

// End queues the end row of an exchange that has begun, and gives it its Seq. Nobody need wait for it: until it is there, the begin row stands for the
// exchange. So it goes with the next row that somebody waits for, or a few milliseconds later. The row belongs to the writer from now on.
func (w *Writer) End(e *End) Ticket {
	e.bound()
	return w.queue(0, func(g *group) {
		e.Seq = w.ids.Next()
		g.queued.Ends = append(g.queued.Ends, e)
	})
}

// Slot is the slot of the ledger that this writer has.
func (w *Writer) Slot() int { return w.slot }

// Correct queues corrections, and gives each its Seq. They become durable together.
func (w *Writer) Correct(list []*Correction) Ticket {
	return w.queue(0, func(g *group) {
		for _, c := range list {
			c.bound()
			c.Seq = w.ids.Next()
		}
		g.queued.Corrections = append(g.queued.Corrections, list...)
	})
}

// Refused counts a request that was refused. It goes with the next commit that has rows, or with the next roll.
func (w *Writer) Refused(key, model, code string) {
	r := Refusal{Hour: HourOf(time.Now()), Key: clean(key), Model: clean(model), Code: clean(code)}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.next.refusals == nil {
		w.next.refusals = map[Refusal]int64{}
	}
	if _, known := w.next.refusals[r]; !known && len(w.next.refusals) >= mostNames {
		r.Model = otherNames
	}
	w.next.refusals[r]++
}

// Price records what a version of a price is.
func (w *Writer) Price(card PriceCard) {
	card.Version, card.Card = clean(card.Version), valid(card.Card)
	w.queue(0, func(g *group) { g.queued.Prices = append(g.queued.Prices, card) })
}

// Notify records that somebody was told.
func (w *Writer) Notify(n Notice) Ticket {
	n.Budget, n.At = BudgetName(n.Budget), clean(n.At)
	return w.queue(0, func(g *group) { g.queued.Notices = append(g.queued.Notices, n) })
}

// queue puts something into the group that is being filled, to be written as soon as somebody waits for it, or with others a few
// milliseconds later. What may be lost is, where the ledger cannot be written, there is too much in memory already, and serving
// goes before recording: so many rows are missing then. That is begin rows, after which there are no end rows either, and those
// of what is owned: there are never more rows than a few for each exchange that has begun.
func (w *Writer) queue(mayBeLost int, put func(*group)) Ticket {
	w.mu.Lock()
	g := w.next
	if mayBeLost > 0 && w.options.Serve && g.rows >= w.options.MostQueued && w.failing.Load() != nil {
		w.mu.Unlock()
		w.stats.lost.Add(int64(mayBeLost))
		return Ticket{writer: w}
	}
	put(g)
	g.rows++
	row := int64(g.rows)
	w.mu.Unlock()
	if row == 1 { // the others go with it
		rouse(w.later)
	}
	return Ticket{writer: w, group: g, row: row}
}

func rouse(run chan struct{}) {
	select {
	case run <- struct{}{}:
	default: // it is awake already
	}
}
