package limiter

import "time"

// Correct changes what was used at some time by an amount that became known
// later, after its reservation was settled. A [CalendarQuota] is corrected if
// that time falls into the period that goes on now, a [Total] always, to no
// less than nothing used and no more than fits in 64 bits. Budgets of other
// kinds stay as they are: time gives back what was consumed, and would soon
// give back the correction. What is held stays held.
//
// A time in the future counts as now, as for [Memory.Restore]. An error is
// misuse and changes nothing: a handle that is nil, zero or another limiter's.
func (m *Memory) Correct(b *Budget, at time.Time, delta int64) error {
	if err := m.checkOwn(b); err != nil {
		return err
	}
	now := m.now(true)
	b = b.lockLive()
	defer b.mu.Unlock()
	switch c := b.counter().(type) {
	case *calendar:
		b.enter(now)
		if c.current(now.before(time.Unix(0, now.wall).Sub(at)).wall) {
			c.correct(delta)
		}
	case *total:
		c.correct(delta)
	}
	return nil
}
