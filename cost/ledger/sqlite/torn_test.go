package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// After a power loss the end of the log can be anything. All batches before that are there, whole, and none after, not even in
// part; the ledger opens without complaint, and goes on.
func TestTheEndOfTheLogIsTorn(t *testing.T) {
	const batches, size = 60, 9
	path := filepath.Join(t.TempDir(), "usage.db")
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	past, err := store.Resume(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ends []int // of the log, after each batch
	last, rolled := past.Last, []ledger.Exchange(nil)
	for i := range batches {
		b := &ledger.Batch{Number: past.Batch + int64(i) + 1}
		for range size {
			last += ledger.Slots
			begin, end := exchange(last, 7)
			last += ledger.Slots
			end.Seq = last
			b.Begins, b.Ends = append(b.Begins, begin), append(b.Ends, end)
			rolled = append(rolled, ledger.Exchange{Begin: *begin, End: end})
		}
		if i%4 == 3 {
			b.Rolled, rolled = ledger.RollOf(rolled, nil), nil
		}
		if err := store.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, int(info.Size()))
	}
	file, log := content(t, path), content(t, path+"-wal")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}

	random := rand.New(rand.NewPCG(3, 4))
	for n := range 200 {
		at := len(log) - 1 - random.IntN(len(log))
		torn := append([]byte(nil), log...)
		var how string
		switch n % 4 {
		case 0:
			torn, how = torn[:at], "cut off"
		case 1:
			torn[at] ^= byte(1 + random.IntN(255))
			how = "a byte changed"
		case 2:
			for i := at; i < min(len(torn), at+4096); i++ {
				torn[i] ^= 0x5a
			}
			how = "a page of noise"
		case 3:
			clear(torn[at:])
			how = "zeros from there on"
			for at < len(log) && log[at] == 0 {
				at++ // it was zero before
			}
		}
		t.Run(fmt.Sprintf("%s at %d", how, at), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "usage.db")
			write(t, path, file)
			write(t, path+"-wal", torn)
			want := 0
			for want < len(ends) && ends[want] <= at {
				want++
			}
			judgeTorn(t, path, want*size)
		})
	}
}

// judgeTorn wants so many exchanges, and a ledger that goes on.
func judgeTorn(t *testing.T, path string, want int) {
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	w, stop := writing(t, store, ledger.Options{})
	for range 5 {
		b, e := exchange(w.IDs().Next(), 7)
		w.Begin(b)
		w.End(e)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	ended := 0
	for _, is := range everyID(t, store) {
		if is {
			ended++
		}
	}
	if ended != want+5 {
		t.Errorf("%d exchanges are there, want %d, and 5 more", ended, want)
	}
	reads(t, store, func(s ledger.Snapshot) {
		spent := int64(0)
		if err := s.Spends(t.Context(), []ledger.Want{{Budget: "budget"}}, func(_ int, _ time.Time, n int64) error { spent += n; return nil }); err != nil || spent != int64(7*(want+5)) {
			t.Errorf("%d spent, %v; want %d", spent, err, 7*(want+5))
		}
	})
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	sound(t, path)
}
