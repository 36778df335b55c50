package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Store keeps the rows of a ledger. Its methods may be called from any number of goroutines, those that write from one at a
// time.
type Store interface {
	// Resume takes a writer's slot, which is the store's until Close, and tells what that slot's last life left behind. Of what
	// other writers leave that die, the store itself takes care.
	Resume(ctx context.Context) (*Past, error)
	// Commit writes a batch, all of it or nothing, and returns when it is durable. A batch with the number of one that was
	// committed already changes nothing, so a commit whose outcome is unknown can be tried again. The error matches [ErrFenced]
	// once somebody else has taken the slot, and [ErrLocked] where the number does not follow the last one, as the ledger was
	// replaced by another: nothing of the batch is written then, nor ever will be.
	Commit(ctx context.Context, b *Batch) error
	// Prune drops at most that many of the oldest exchanges that ended before an instant and are in the sums, and returns how
	// many it dropped. Notices of periods that have ended long ago go, too, sooner or later.
	Prune(ctx context.Context, before time.Time, most int) (int, error)
	// Snapshot reads the ledger as it is when it returns, until the snapshot is closed or ctx ends. Close it in any case: as
	// long as it is open, the store cannot give back the room of what was written since.
	Snapshot(ctx context.Context) (Snapshot, error)
	Close() error
}

// Errors of stores, for errors.Is.
var (
	// ErrLocked says that another process writes to the ledger.
	ErrLocked = errors.New("another process writes to this ledger")
	// ErrFenced says that this process was taken for dead: what it had begun has been charged as if it had crashed. It
	// matches ErrLocked, too.
	ErrFenced = fmt.Errorf("%w: it took this one for dead, after a long silence; restart this one", ErrLocked)
	// ErrCorrupt says that what should be a ledger cannot be read as one. It is never replaced by a new one.
	ErrCorrupt = errors.New("this is no ledger, or a damaged one")
	// ErrNewer says that a newer program has written the ledger.
	ErrNewer = errors.New("this ledger was made by a newer version of this program")
)

// Past is what a writer finds when it starts.
type Past struct {
	Slot       int
	Batch      int64        // the next batch's number is one more; no batch of the slot's earlier lives had it
	Last       ID           // the largest ID in the ledger
	Tail       []Exchange   // ended, and not in the sums yet
	Corrected  []Correction // likewise
	Unfinished []Exchange   // begun and never ended
	Died       ID           // when that life gave its last sign, and no earlier than its rows: the ends of what is unfinished follow it
}

// Batch is what one commit writes.
type Batch struct {
	Slot        int
	Number      int64 // one more than the last, which says in which of the slot's lives, too
	Begins      []*Begin
	Draws       []*Draw
	Ends        []*End // in the order of their Seq
	Corrections []*Correction
	Refusals    []Refusal // to be added to what was counted
	Prices      []PriceCard
	Notices     []Notice
	Owned       []*Owned
	Grown       []*Growth
	Oldest      ID    // of this writer's exchanges that are open after this batch; 0: there is none
	Rolled      *Roll // what is added to the sums; nil: nothing
}

// Notice says that somebody was told, once in a period, how much of a budget is used.
type Notice struct {
	Budget string // its name
	Period int64  // Unix seconds at which it ends; 0: it has no end
	At     string // "80%", or with the amount that it is of: "80% of 100"
}

// Snapshot reads a ledger. It is for one goroutine, and what is called for each row must not use it.
type Snapshot interface {
	// Hours reads the hourly sums of exchanges that began from one instant up to another, both at full hours, with what is not
	// in the store's own sums yet. Names that are not wanted are empty, and the sums go over all of them. There may be several
	// for the same names, to be added up.
	Hours(ctx context.Context, q HourQuery, each func(Hour, Sums) error) error
	// Refusals reads those of the same hours.
	Refusals(ctx context.Context, from, to time.Time, each func(Refusal) error) error
	// Spends reads what budgets were charged. Exchanges that never ended count as reserved.
	Spends(ctx context.Context, wants []Want, each func(i int, at time.Time, n int64) error) error
	// Slots reads the sums that are kept of what budgets were charged in an interval, with what is not in the store's own
	// sums yet. There may be several for the same slot, to be added up. What is older than 100 days is in one, at 0.
	Slots(ctx context.Context, from, to time.Time, each func(Slot, int64) error) error
	// Ended reads the exchanges whose end rows were recorded in an interval, in that order, without their draws.
	Ended(ctx context.Context, from, to time.Time, each func(*Exchange) error) error
	// Began reads the exchanges that began in an interval, in that order, without their draws.
	Began(ctx context.Context, from, to time.Time, each func(*Exchange) error) error
	// Corrections reads those of the exchanges that began in an interval.
	Corrections(ctx context.Context, from, to time.Time, each func(*Correction) error) error
	// Find reads one exchange; nil if there is none, or its rows are no longer kept.
	Find(ctx context.Context, id ID) (*Exchange, error)
	// Unfinished reads the exchanges that have no end row.
	Unfinished(ctx context.Context) ([]Exchange, error)
	// Strays reads the rows that belong to nothing. There are none in a ledger that is whole.
	Strays(ctx context.Context, each func(Stray) error) error
	// Price reads the card of a version of a price, "" if there is none.
	Price(ctx context.Context, version string) (card string, err error)
	// Prices reads the cards of all versions, in no order.
	Prices(ctx context.Context, each func(PriceCard) error) error
	// Kept is the instant from which on the rows of all exchanges are kept that ended.
	Kept(ctx context.Context) (time.Time, error)
	// Notices reads all that are kept.
	Notices(ctx context.Context) ([]Notice, error)
	// Writers reads who writes to the ledger, or has.
	Writers(ctx context.Context) ([]Life, error)
	// Owned reads those of some objects that a key owns and that are not deleted, in no order.
	Owned(ctx context.Context, key string, ids []string) ([]Owned, error)
	Close() error
}

// Life is that of a writer: its slot, and when it was last known to be alive. It has written nothing since but the end of what was
// open then.
type Life struct {
	Slot int
	Last time.Time
}

// Stray is a row that belongs to nothing: the end, draw or correction of an exchange without a begin row, or a correction of one
// that has no end.
type Stray struct {
	Row      string // "end", "draw" or "correction"
	Exchange ID     // that it should belong to
	Seq      ID     // the row's own; that of a draw is 0
}

// HourQuery says which hourly sums are wanted.
type HourQuery struct {
	From, To time.Time // To is not part of it

	// What the sums are to be told apart by.
	Hour, Series, Model, Label bool
	Day                        *time.Location // by day of that zone rather than by hour, see [DayOf]; nil: not so
}

// Only returns h without the names that are not wanted.
func (q HourQuery) Only(h Hour) Hour {
	switch {
	case q.Day != nil:
		h.Start, _ = DayOf(h.Start, q.Day)
	case !q.Hour:
		h.Start = 0
	}
	if !q.Series {
		h.Series = Series{}
	}
	if !q.Model {
		h.Model, h.Served = "", ""
	}
	if !q.Label {
		h.Label = ""
	}
	return h
}

// Want says what is to be known of a budget to rebuild it.
type Want struct {
	Budget string
	Since  time.Time // the zero time: ever
	Detail Detail
}

// Detail is how exactly the instants of what was charged are wanted.
type Detail uint8

// The details.
const (
	Sum    Detail = iota // one sum, dated to Since
	ByRow                // each charge at its own instant, if it is not older than an hour; older ones by slot
	BySlot               // sums of a quarter of an hour, each dated to its end
)

// byRow is for how long the instants of single charges are told.
const byRow = time.Hour

// RowsSince is the instant since when [ByRow] tells each charge at its own instant, and before which it tells sums, each dated to
// the end of its slot. Where rows were dropped, it is later.
func RowsSince(now time.Time) time.Time { return time.Unix(SlotOf(now.Add(-byRow)), 0) }
