package ledger

import (
	"sync/atomic"
	"time"
)

// unavailable notes that the ledger cannot be written, and says so when that begins. It is called by one goroutine at a time.
func (w *Writer) unavailable(err error) {
	if old := w.failing.Load(); old != nil {
		w.failing.Store(&failure{err: err, since: old.since})
		return
	}
	w.failing.Store(&failure{err: err, since: time.Now()})
	defer close(*w.alarm.Load())
	then := "new calls are refused until it can be"
	if w.options.Serve {
		then = "calls are served all the same, and what does not fit into memory is not recorded"
	}
	w.options.Log.Error("ledger unavailable", "error", err, "then", then)
}

// recovered notes that the ledger can be written.
func (w *Writer) recovered() {
	if f := w.failing.Load(); f != nil {
		w.newAlarm()
		w.failing.Store(nil)
		w.options.Log.Info("ledger available again", "after_ms", time.Since(f.since).Milliseconds(), "lost_rows", w.stats.lost.Load())
	}
}

// counters are the writer's own figures.
type counters struct {
	commits, rows, failures, lost atomic.Int64
	unkept                        atomic.Int64 // writes to the journal that failed
	stuck                         atomic.Int64 // rows of the group whose commit has failed and is tried again
}

// Stats are figures of a [Writer] since it was opened.
type Stats struct {
	Commits  int64         // groups that became durable
	Rows     int64         // rows in them
	Failures int64         // commits that failed, each attempt counted
	Unkept   int64         // writes to the journal that failed: answers waited for the store instead
	Lost     int64         // rows that were not recorded, as memory was full
	Queued   int           // rows that wait for the next commit, or for one that has failed to succeed
	Failing  time.Duration // for how long the ledger could not be written; 0: it can be
}

// Stats returns the figures as they are now.
func (w *Writer) Stats() Stats {
	w.mu.Lock()
	queued := w.next.rows
	w.mu.Unlock()
	s := Stats{
		Commits: w.stats.commits.Load(), Rows: w.stats.rows.Load(), Failures: w.stats.failures.Load(), Lost: w.stats.lost.Load(),
		Unkept: w.stats.unkept.Load(),
		Queued: queued + int(w.stats.stuck.Load()),
	}
	if f := w.failing.Load(); f != nil {
		s.Failing = time.Since(f.since)
	}
	return s
}
