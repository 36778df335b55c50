package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// world is one ledger, those who write to it, and what should be in it.
type world struct {
	t      testing.TB
	l      Ledger
	rand   *rand.Rand
	now    time.Time // goes from 130 days ago to the present
	clerks []*clerk  // nil: not at work
	reader ledger.Store
	ref    *reference
	doubt  []*ledger.Batch // batches that crashed writers may have committed

	keys []*schedule
	left []*schedule // those that have steps left
}

// schedule is what happens to one key: a number of steps.
type schedule struct {
	key   string
	steps int
	runs  []*run
}

// run is one exchange of a schedule that its clerk has begun, and not ended.
type run struct {
	begin *ledger.Begin
	clerk *clerk
	draws int
}

func newWorld(t testing.TB, h Harness, r *rand.Rand, keys int) *world {
	l := h.New(t)
	w := &world{
		t: t, l: l, rand: r, now: time.Now().Add(-130 * 24 * time.Hour), clerks: make([]*clerk, max(1, h.Writers)),
		ref: newReference(),
	}
	for i := range keys {
		w.keys = append(w.keys, &schedule{key: fmt.Sprint("key", i), steps: 2 + r.IntN(10)})
	}
	w.left = append(w.left, w.keys...)
	w.start(0)
	w.reader = l.Reader(t)
	return w
}

func (w *world) end() {
	w.reader.Close()
	for _, c := range w.clerks {
		if c != nil {
			c.store.Close()
		}
	}
}

// oneIn reports true once in so many times.
func (w *world) oneIn(n int) bool { return w.rand.IntN(n) == 0 }

// play goes through all schedules. Between the steps of keys there are those of the ledger.
func (w *world) play() {
	for len(w.left) > 0 && !w.t.Failed() {
		for range 1 + w.rand.IntN(max(5, len(w.keys)/8)) {
			if len(w.left) > 0 {
				w.step()
			}
		}
		w.pass()
		if c := w.someone(); c != nil {
			w.commit(c)
		}
		for _, each := range []struct {
			odds int
			do   func()
		}{{3, w.rollSomewhere}, {4, w.prune}, {12, w.crash}, {4, w.hireSomebody}, {80, w.compare}} {
			if w.oneIn(each.odds) {
				each.do()
			}
		}
	}
	for i := range w.clerks { // all die, and the last to start charges what they left
		if w.clerks[i] != nil {
			w.die(i)
		}
	}
	w.compare()
	w.hireSomebody()
	w.rollSomewhere()
	for range 3 {
		w.prune()
	}
	w.compare()
}

// pass lets time go by: some microseconds, some minutes, up to the next border of a slot, or days.
func (w *world) pass() {
	switch w.rand.IntN(8) {
	case 0:
		w.now = w.now.Add(time.Duration(w.rand.Int64N(int64(5 * 24 * time.Hour))))
	case 1, 2:
		w.now = w.now.Add(time.Duration(w.rand.Int64N(int64(time.Hour))))
	case 3:
		w.now = slotEnd(w.now).Add(time.Duration(w.rand.IntN(3)-1) * time.Microsecond)
	default:
		w.now = w.now.Add(time.Duration(w.rand.Int64N(int64(time.Second))))
	}
	if now := time.Now(); w.now.After(now) {
		w.now = now
	}
}

// far is after all that happens.
func (w *world) far() time.Time { return time.Now().Add(24 * time.Hour) }

// someone is a clerk that is at work, nil if there is none.
func (w *world) someone() *clerk {
	first := w.rand.IntN(len(w.clerks))
	for i := range w.clerks {
		if c := w.clerks[(first+i)%len(w.clerks)]; c != nil {
			return c
		}
	}
	return nil
}

// start lets a process begin.
func (w *world) start(i int) {
	c := hire(w.t, w.l)
	w.clerks[i] = c
	w.settleDoubts(c.store)
	w.judgePast(c.past)
	w.adoptions(c)
}

// adoptions notes what a store that starts has charged for others that are dead.
func (w *world) adoptions(c *clerk) {
	w.t.Helper()
	alive := map[int]bool{}
	for _, c := range w.clerks {
		if c != nil {
			alive[c.past.Slot] = true
		}
	}
	v := look(w.t, c.store)
	defer v.close()
	w.ref.adopted(w.t, v, alive)
}

func (w *world) hireSomebody() {
	for i, c := range w.clerks {
		if c == nil {
			w.start(i)
			return
		}
	}
}

// crash ends a process: what it has not committed never was.
func (w *world) crash() {
	for i, c := range w.clerks {
		if c != nil && w.oneIn(2) {
			if w.oneIn(3) && len(c.batch.Begins)+len(c.batch.Ends)+len(c.batch.Draws)+len(c.batch.Corrections) > 0 { // in the middle of a commit
				b := c.take()
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(w.rand.IntN(500))*time.Microsecond)
				if err := c.store.Commit(ctx, b); err == nil {
					w.ref.apply(w.t, b)
				} else {
					w.doubt = append(w.doubt, b)
				}
				cancel()
			}
			if w.die(i); w.doubt != nil {
				w.start(i)
			}
		}
	}
}

func (w *world) die(i int) {
	c := w.clerks[i]
	w.l.Crash(w.t, c.store)
	w.clerks[i] = nil
	for _, s := range w.keys {
		kept := s.runs[:0]
		for _, r := range s.runs {
			if r.clerk != c {
				kept = append(kept, r)
			}
		}
		s.runs = kept
	}
}

// settleDoubts finds out which batches were committed of those whose writers never learned.
func (w *world) settleDoubts(s ledger.Store) {
	w.t.Helper()
	for _, b := range w.doubt {
		if isThere(w.t, s, b) {
			w.ref.apply(w.t, b)
		}
	}
	w.doubt = nil
}

// commit writes what a clerk has. Sometimes it fails at first, or does not, and nobody knows.
func (w *world) commit(c *clerk) {
	w.t.Helper()
	b := c.take()
	if w.oneIn(10) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(w.rand.IntN(1000))*time.Microsecond)
		_ = c.store.Commit(ctx, b) // it is tried again, whatever came of it
		cancel()
	}
	for range 1 + w.rand.IntN(2) {
		if err := c.store.Commit(context.Background(), b); err != nil {
			w.t.Fatalf("commit batch %d: %v", b.Number, err)
		}
	}
	if w.oneIn(10) {
		gap := *b
		gap.Number += 2 + w.rand.Int64N(3)
		if err := c.store.Commit(context.Background(), &gap); !errors.Is(err, ledger.ErrLocked) {
			w.t.Fatalf("batch %d after %d: %v", gap.Number, b.Number, err)
		}
	}
	w.ref.apply(w.t, b)
}

func (w *world) rollSomewhere() {
	if c := w.someone(); c != nil {
		c.roll()
		w.commit(c)
	}
}

// prune drops what is old. What should be dropped, the reference knows.
func (w *world) prune() {
	c := w.someone()
	if c == nil {
		return
	}
	if time.Until(slotEnd(time.Now())) < 10*time.Second {
		return // which slots are old would depend on the moment
	}
	before, most := w.far(), w.rand.IntN(400)
	if w.oneIn(2) {
		before = w.now.Add(-time.Duration(w.rand.Int64N(int64(48 * time.Hour))))
	}
	want := w.ref.drop(before, most, time.Now())
	if n := c.prune(before, most); n != want {
		w.t.Errorf("%d dropped that ended before %v, %d at most; want %d", n, before, most, want)
	}
}
