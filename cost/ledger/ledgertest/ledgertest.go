package ledgertest

import (
	"testing"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Harness is how the suite gets hold of ledgers.
type Harness struct {
	// New makes a ledger that is empty and shares nothing with others that New has made. What it takes is given back by
	// t.Cleanup, after all the stores of the ledger were closed.
	New func(t testing.TB) Ledger

	// Writers is how many stores can have one ledger open to write at once. Zero means one.
	Writers int

	// Schedules is how many of the conservation's are played where no flag says. Zero means the usual number; a store that
	// waits for a disk may have fewer.
	Schedules int
}

// Ledger is the data of one ledger, apart from the processes that have it open.
type Ledger interface {
	// Open opens the ledger to write, as a process does that starts. The suite closes the store.
	Open(t testing.TB) ledger.Store

	// Reader opens the ledger to read, beside writers. The suite closes the store.
	Reader(t testing.TB) ledger.Store

	// Crash ends the process that has a store open: what it has not committed is gone, its slot is free, and nobody uses the
	// store again. Closing it is enough where that tells nobody anything.
	Crash(t testing.TB, s ledger.Store)
}

// story tests one behaviour, with a ledger of its own.
type story struct {
	name string
	tell func(t *testing.T, h Harness, l Ledger)
}

// Run tests a store. The names of the tests within t begin with "stories", "writers" or "conservation".
func Run(t *testing.T, h Harness) {
	t.Run("stories", func(t *testing.T) { h.tell(t, stories) })
	t.Run("conservation", h.conservation)
	t.Run("writers", func(t *testing.T) { h.tell(t, writerStories) })
}

func (h Harness) tell(t *testing.T, list []story) {
	for _, s := range list {
		t.Run(s.name, func(t *testing.T) { s.tell(t, h, h.New(t)) })
	}
}
