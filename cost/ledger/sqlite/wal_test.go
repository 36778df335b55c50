package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// A snapshot that is held for long sees what it saw, while the log behind it grows and is written into the file, as far as that
// goes. Once it is closed the log is, too, and gives its room back.
func TestASnapshotIsHeldForLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.db")
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	reader, err := sqlite.OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	w, stop := writing(t, store, ledger.Options{})
	written := 0
	write := func(n int) {
		var last ledger.Ticket
		for range n {
			b, e := exchange(w.IDs().Next(), 7)
			b.Label = fmt.Sprintf("a label that takes some room, with the number %d", written)
			w.Begin(b)
			last = w.End(e)
			if written++; written%200 == 0 {
				if err := last.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := last.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	log := func() int64 {
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	count := func(s ledger.Snapshot) (ended int, requests int64) {
		if err := s.Ended(t.Context(), time.Time{}, time.Now().Add(time.Hour), func(*ledger.Exchange) error { ended++; return nil }); err != nil {
			t.Error(err)
		}
		err := s.Hours(t.Context(), ledger.HourQuery{From: time.Unix(0, 0), To: time.Now().Add(2 * time.Hour)}, func(_ ledger.Hour, s ledger.Sums) error {
			requests += s.Requests
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return ended, requests
	}
	write(100)
	long, err := reader.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		write(5_000)
		if ended, requests := count(long); ended != 100 || requests != 100 {
			t.Errorf("a snapshot of 100 exchanges has %d, sums of %d", ended, requests)
		}
		reads(t, reader, func(s ledger.Snapshot) {
			if ended, requests := count(s); ended != written || int(requests) != written {
				t.Errorf("a new snapshot of %d exchanges has %d, sums of %d", written, ended, requests)
			}
		})
	}
	grown := log()
	if err := long.Close(); err != nil {
		t.Error(err)
	}
	write(5_000)
	if grown < 10<<20 || log() > 9<<20 {
		t.Errorf("the log had %d bytes while a snapshot was held, and has %d after; want more than 10 MB, and at most 9 MB", grown, log())
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
