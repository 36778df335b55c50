package proxy

import (
	"sync"
	"time"
)

// strangerLines is how many lines of the log requests without a known key have in a minute.
const strangerLines = 100

// strangers bounds what requests without a known key write to the log: anybody can make them, as fast as a network carries them. The
// zero value is ready. It is safe for concurrent use.
type strangers struct {
	mu       sync.Mutex
	since    time.Time // guarded by mu; when the current minute began
	lines    int       // guarded by mu; written in it
	unlogged int64     // guarded by mu; not written since the last line
}

// line reports whether a request has a line, and how many had none since the last that had.
func (s *strangers) line(now time.Time) (unlogged int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.since) >= time.Minute {
		s.since, s.lines = now, 0
	}
	if s.lines >= strangerLines {
		s.unlogged++
		return 0, false
	}
	s.lines++
	unlogged, s.unlogged = s.unlogged, 0
	return unlogged, true
}
