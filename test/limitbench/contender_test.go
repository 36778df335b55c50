package limitbench

import (
	"context"
	"time"
)

// contender is a limiter under test. Calls take one unit each, and all methods
// may be used by several goroutines.
type contender interface {
	// one makes n calls on one budget, by a handle if the library has handles,
	// and returns how many passed.
	one(n int) (passed int)
	// named makes a call on each name, looked up by name.
	named(names []string) (passed int)
}

// library makes a contender that lets limit units pass at once. After that,
// one comes back in each such time, or all of them after a period; whichever
// the library does.
type library struct {
	name string
	make func(limit int64, each time.Duration) contender
}

const (
	// plenty is more than a benchmark uses up.
	plenty = 1 << 30
	// steady is how fast units come back: calls come faster, so that no bucket
	// is ever full again.
	steady = time.Second
	// With many names each gets a call now and then. These are for them: what
	// a name has spent is not back before the benchmark is over, or it would
	// be as good as new, and dropped.
	much = 1 << 20
	slow = 10 * time.Minute
	// period is longer than a benchmark.
	period = time.Hour
)

var ctx = context.Background()

// libraries are all contenders, ours first.
var libraries = []library{
	{"tokenfare", newOurs},
	{"cas", newCAS},
	{"x-time-rate", newXRate},
	{"throttled", newThrottled},
	{"sethvargo", newSethvargo},
	{"ulule", newUlule},
	{"failsafe", newFailsafe},
}

// theName is the name that one uses where there are no handles.
const theName = "user-1000000"
