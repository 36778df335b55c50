package soak

import (
	"flag"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/test/harness"
)

var (
	lasts  = flag.Duration("soak.for", usually(5*time.Second, time.Minute), "how long TestSoak drives the program")
	seed   = flag.Uint64("soak.seed", rand.Uint64N(1_000_000), "what the calls of TestSoak and TestAbortStorm follow from")
	aborts = flag.Int("soak.aborts", 1000, "how many streams TestAbortStorm aborts")
)

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
