package limiter

import (
	"math"
	"sort"
	"time"
)

// window is the counter of a SlidingWindow: a ring of entries in the order
// they leave, and their sum.
type window struct {
	rule    SlidingWindow
	now     int64
	ring    []entry // length is a power of two, or 0
	head    int     // position of the oldest entry in ring
	n       int     // entries in use
	places  uint64  // of the newest entry there ever was
	gone    uint64  // the highest place of an entry that has left
	used    int64   // sum over the entries, less held
	held    int64
	holding int // open holds, also of entries that have left
}

// entry is what was taken within one grain of time.
type entry struct {
	end     int64  // end of the grain: no earlier than any instant it stands for
	n, held int64  // all of it, and the part of it that is held
	place   uint64 // goes up from entry to entry: by it a hold finds its own
}

// placeGap is how far the places of entries are apart, so that corrections can
// put others in between. It leaves places for a million entries a second over
// eight years.
const placeGap = 1 << 16

// keptRing is the length of ring that an empty window keeps.
const keptRing = 64

func (w *window) at(i int) *entry { return &w.ring[(w.head+i)&(len(w.ring)-1)] }

// leaves is when an entry stops counting: a window after its end.
func (w *window) leaves(e *entry) int64 { return addSaturated(e.end, int64(w.rule.Window)) }

// grainEnd is the end of the grain an instant falls in, be it before the
// limiter's base. Without grains that is the instant itself.
func (r SlidingWindow) grainEnd(now int64) int64 {
	g := int64(r.Grain)
	if g == 0 {
		return now
	}
	past := now % g
	if past < 0 {
		past += g
	}
	return addSaturated(now-past, g)
}

// setTerms takes a newer window. Entries keep the end they were given, so what
// has left under a shorter window does not come back under a longer one.
func (w *window) setTerms(t *terms) {
	w.rule = t.rule.(SlidingWindow)
	w.evict()
}

func (w *window) advance(now instant) {
	w.now = max(w.now, now.ns)
	w.evict()
}

func (w *window) evict() {
	for w.n > 0 {
		e := w.at(0)
		if e.n > 0 && w.leaves(e) > w.now {
			return
		}
		w.used -= e.n - e.held
		w.held -= e.held
		w.gone = e.place
		w.head = (w.head + 1) & (len(w.ring) - 1)
		w.n--
	}
	if len(w.ring) > keptRing {
		w.ring, w.head = nil, 0
	}
}

func (w *window) counted() (used, held int64) { return w.used, w.held }

func (w *window) describe() (used, held int64, open int, untilWhole time.Duration) {
	if w.n > 0 {
		untilWhole = time.Duration(w.leaves(w.at(w.n-1)) - w.now)
	}
	return w.used, w.held, w.holding, untilWhole
}

func (w *window) room() int64 { return mostCounted - w.used - w.held }

// wait walks the entries from the oldest until enough of them has left.
func (w *window) wait(n int64) time.Duration {
	left, most := w.used+w.held, w.rule.Limit-n
	at := w.now
	for i := 0; left > most && i < w.n; i++ {
		e := w.at(i)
		left -= e.n
		at = w.leaves(e)
	}
	return time.Duration(at - w.now)
}

func (w *window) after(d time.Duration) int64 {
	left, at := w.used+w.held, addSaturated(w.now, int64(d))
	for i := 0; i < w.n && w.leaves(w.at(i)) <= at; i++ {
		left -= w.at(i).n
	}
	return left
}

func (w *window) fitsWithoutHeld(n int64) bool { return w.used <= w.rule.Limit-n }

func (w *window) spend(n int64) {
	w.last().n += n
	w.used += n
}

func (w *window) hold(h *hold) {
	e := w.last()
	e.n += h.n
	e.held += h.n
	w.held += h.n
	w.holding += h.first()
	h.place = e.place
}

// settle corrects the entry that was charged, where it stands. An entry that
// has left the window has nothing to give back, and must not be made up for by
// a negative one: that would free room the window never had.
func (w *window) settle(h *hold, used int64) {
	w.holding -= h.first()
	if e := w.find(h.place); e != nil {
		e.held -= h.n
		e.n -= h.n - used
		w.held -= h.n
		w.used += used
		w.trim()
	}
}

func (w *window) fresh() bool { return w.n == 0 && w.holding == 0 }

// inherit counts what another window counts until all of that has left, in one
// entry: a copy of each would cost a newcomer more memory than it is worth.
func (w *window) inherit(from *window) {
	if from.used+from.held > 0 {
		w.now = from.now
		w.spend(from.used + from.held)
		w.last().end = from.at(from.n - 1).end
	}
}

// find returns the entry of that place, nil if it has left.
func (w *window) find(place uint64) *entry {
	i := sort.Search(w.n, func(i int) bool { return w.at(i).place >= place })
	if i < w.n && w.at(i).place == place {
		return w.at(i)
	}
	return nil
}

// trim drops empty entries from both ends, so that a window in which
// everything was given back is a fresh one. Nothing open refers to them.
func (w *window) trim() {
	for w.n > 0 && w.at(w.n-1).n == 0 {
		w.n--
	}
	w.evict()
}

// last returns the entry that takes what is charged now, and makes it if need
// be. After a change of grain, or under a clock that stood still, the newest
// entry may end later than the present grain; it then serves, so that entries
// stay in the order they leave.
func (w *window) last() *entry {
	end := w.rule.grainEnd(w.now)
	if w.n > 0 {
		if e := w.at(w.n - 1); e.end >= end {
			return e
		}
	}
	if w.n == len(w.ring) {
		w.grow()
	}
	return w.append(end)
}

// append adds a youngest entry, for which there is room.
func (w *window) append(end int64) *entry {
	w.n++
	e := w.at(w.n - 1)
	w.places += placeGap
	*e = entry{end: end, place: w.places}
	return e
}

// grow makes room for one more. Entries between others may have been given back
// entirely; nothing refers to those, and without them there may be room enough.
func (w *window) grow() {
	full := 0
	for i := range w.n {
		if w.at(i).n > 0 {
			full++
		}
	}
	length := max(4, len(w.ring))
	if 2*full > len(w.ring) {
		length *= 2
	}
	ring := make([]entry, length)
	full = 0
	for i := range w.n {
		if e := w.at(i); e.n > 0 {
			ring[full] = *e
			full++
		}
	}
	w.ring, w.head, w.n = ring, 0, full
}

// addSaturated adds two amounts, the second of which is not negative.
func addSaturated(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
