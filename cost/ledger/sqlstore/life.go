package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Pace is that of the signs of life by which writers know of each other.
type Pace struct {
	Beat  time.Duration // between two signs
	Grace time.Duration // for how long a writer has been seen to give none when it is taken for dead; several beats
}

// life is what a store does for as long as it has a slot: it shows that it is alive, and adopts writers that are not.
type life struct {
	slot  atomic.Pointer[int]
	batch atomic.Int64              // with which this life began
	sign  atomic.Pointer[time.Time] // before the last sign of life that is in the database

	stop    context.CancelFunc // nil: nothing runs; set by Resume
	running sync.WaitGroup

	adopted atomic.Int64
	trouble atomic.Pointer[error] // of the last look at the others
}

// begin starts a life, which ends with leave.
func (s *Store) begin(ctx context.Context, past *ledger.Past) {
	l := &s.life
	l.slot.Store(&past.Slot)
	l.batch.Store(past.Batch)
	l.signed(time.Now())
	pace := s.dialect.Pace()
	if pace.Beat == 0 || l.stop != nil {
		return
	}
	w := newWatch(pace.Grace)
	s.look(ctx, w)
	ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	// Each by itself: a look that takes long must not make this writer look dead.
	l.running.Go(func() { repeat(ctx, pace.Beat, s.beat) })
	l.running.Go(func() { repeat(ctx, pace.Beat, func(ctx context.Context) { s.look(ctx, w) }) })
}

func repeat(ctx context.Context, every time.Duration, f func(context.Context)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f(ctx)
		}
	}
}

// Bounds of what is done beside commits.
const (
	beatTime = 5 * time.Second
	lookTime = time.Minute
	byeTime  = 2 * time.Second
)

// beat is a sign of life. One that fails is not worth a word: commits tell that the database is gone, and the next one follows.
func (s *Store) beat(ctx context.Context) { s.show(ctx, beatTime, time.Now().UnixMicro()) }

// show writes when this writer was seen last, unless it has lost its slot.
func (s *Store) show(ctx context.Context, most time.Duration, seen int64) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	first, now := s.life.batch.Load(), time.Now()
	result, err := s.write.ExecContext(ctx, s.place(`UPDATE writers SET seen = ? WHERE slot = ? AND batch >= ? AND batch < ?`),
		seen, *s.life.slot.Load(), first, first+1<<batchBits)
	if err != nil {
		return
	}
	if n, err := result.RowsAffected(); err == nil && n == 1 {
		s.life.signed(now)
	}
}

// signed notes a sign of life that was given after an instant. That of a commit and that of a beat may be noted in either order.
func (l *life) signed(now time.Time) { l.sign.Store(&now) }

// Living reports whether this writer has given a sign of life so lately that nobody can have taken it for dead. One that stood
// still for long finds out here before it does anything, rather than by its next commit. It is safe for concurrent use, and
// touches no database.
func (s *Store) Living() bool {
	pace, last := s.dialect.Pace(), s.life.sign.Load()
	if pace.Beat == 0 || last == nil {
		return true
	}
	now := time.Now()
	// A beat less than the others wait, for what is begun now takes a moment to be written.
	// By the time of day, too: the other clock stands still while a machine is suspended.
	silent := max(now.Sub(*last), now.Round(0).Sub(last.Round(0)))
	return silent < pace.Grace-pace.Beat
}

// leave tells the others that this writer ends. If it cannot, they find out.
func (s *Store) leave() {
	if s.life.stop == nil {
		return
	}
	s.life.stop()
	s.life.running.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), byeTime)
	defer cancel()
	if s.enter(ctx) != nil {
		return
	}
	defer s.exit() // after the last commit, which is another sign of life
	s.show(context.Background(), byeTime, 0)
}

// look adopts writers that are dead.
func (s *Store) look(ctx context.Context, w *watch) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	all, err := writers(ctx, s.write)
	if err != nil {
		s.trouble(fmt.Errorf("read ledger: %w", s.dialect.Explain(err)))
		return
	}
	var errs []error
	for _, d := range w.dead(all) {
		if d.slot == *s.life.slot.Load() {
			continue // that is for others to say
		}
		n, err := s.adopt(ctx, d)
		s.life.adopted.Add(int64(n))
		errs = append(errs, err)
	}
	s.trouble(errors.Join(errs...))
}

func (s *Store) trouble(err error) { s.life.trouble.Store(&err) }

// Adopted tells how many exchanges this store has ended because their writers had died, and what keeps it from adopting those
// of others at the moment.
func (s *Store) Adopted() (exchanges int64, trouble error) {
	if p := s.life.trouble.Load(); p != nil {
		trouble = *p
	}
	return s.life.adopted.Load(), trouble
}
