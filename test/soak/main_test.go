package soak

import (
	"flag"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

var (
	lasts  = flag.Duration("soak.for", usually(5*time.Second, time.Minute), "how long TestSoak drives the program")
	seed   = flag.Uint64("soak.seed", rand.Uint64N(1_000_000), "what the calls of TestSoak and TestAbortStorm follow from")
	aborts = flag.Int("soak.aborts", mostAborts(), "how many streams TestAbortStorm aborts")
	secure = flag.String("soak.tls", "", "how the upstream of TestSoak and TestAbortStorm is spoken to: no, h1 or h2; the seed says it otherwise")
)

// wire is how the upstream is spoken to: over TLS half of the time, unless it is said.
func wire(t testing.TB) fakeopenai.Over {
	t.Helper()
	ways := map[string]fakeopenai.Over{"no": fakeopenai.Plain, "h1": fakeopenai.TLS, "h2": fakeopenai.H2}
	way := *secure
	if way == "" {
		way = []string{"no", "no", "h1", "h2"}[*seed%4]
	}
	over, ok := ways[way]
	if !ok {
		t.Fatalf("-soak.tls=%s: write no, h1 or h2", way)
	}
	t.Logf("-soak.seed=%d -soak.tls=%s", *seed, way)
	return over
}

// mostAborts is as many as take some twenty seconds: the race detector's business is not what is left behind.
func mostAborts() int {
	if harness.Race {
		return 1000
	}
	return usually(1000, 10_000)
}

// usually is one value for go test ./..., and another for the README's test command.
func usually[T any](short, long T) T {
	if os.Getenv("TOKENFARE_TEST") == "all" {
		return long
	}
	return short
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(harness.Main(m))
}
