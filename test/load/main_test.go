package load

import (
	"flag"
	"os"
	"syscall"
	"testing"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

var (
	all     = flag.Bool("load.all", false, "run every size, not the smallest alone")
	opening = flag.Int("load.opening", 0, "open so many streams at the same time, and do not judge what that takes; 0: as many as each size says")
)

// ways are what -load.tls may be.
var (
	secure = flag.String("load.tls", "no", "how the upstream is spoken to: no, h1 or h2")
	ways   = map[string]fakeopenai.Over{"no": fakeopenai.Plain, "h1": fakeopenai.TLS, "h2": fakeopenai.H2}
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(harness.Main(m))
}

// spare are the descriptors that a process needs besides those of streams.
const spare = 150

// allow lets this process, and with it those that it starts, open the two connections that each stream has on either side, and returns how
// many streams that allows: fewer than wanted where the limit may not be raised.
func allow(t testing.TB, streams int) int {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	want := uint64(2*streams + spare)
	if limit.Cur >= want {
		return streams
	}
	raised := syscall.Rlimit{Cur: want, Max: max(limit.Max, want)}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised); err == nil {
		return streams
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	possible := (int(limit.Max) - spare) / 2
	if possible < streams*9/10 {
		t.Fatalf("%d descriptors are needed, and this process may have %d: run `ulimit -n %d` as root first", want, limit.Max, want)
	}
	t.Logf("%d streams, not %d: this process may have %d descriptors", possible, streams, limit.Max)
	return possible
}
