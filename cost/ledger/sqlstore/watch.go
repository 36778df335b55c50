package sqlstore

import "time"

// watch looks at writers. It goes by what it sees and by its own clock: the instants in the table are those of other
// machines, and do not say whether the database could be reached meanwhile.
type watch struct {
	grace time.Duration
	last  time.Time // of the last look
	since map[int]sighting
}

// sighting is a sign of life, and when it was seen first.
type sighting struct {
	batch, seen int64
	first       time.Time
}

func newWatch(grace time.Duration) *watch { return &watch{grace: grace, since: map[int]sighting{}} }

// dead looks, and picks the writers that have said that they end, or gave no sign for a while. In that while there was one
// look after the other: if there was a gap, the others may not have reached the database in it either.
func (w *watch) dead(all []writer) (list []writer) {
	now := time.Now()
	if now.Sub(w.last) > w.grace/2 {
		clear(w.since)
	}
	w.last = now
	for _, other := range all {
		s := sighting{other.batch, other.seen, now}
		if known, ok := w.since[other.slot]; ok && known.batch == s.batch && known.seen == s.seen {
			s.first = known.first
		}
		w.since[other.slot] = s
		if other.held && (other.seen == 0 || now.Sub(s.first) >= w.grace) {
			list = append(list, other)
		}
	}
	return list
}
