//go:build unix

package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// A ledger whose disk is full refuses, says so, goes on without a restart as soon as there is room, and has all that was said to
// be durable.
func TestTheDiskIsFull(t *testing.T) {
	t.Run("no room on the disk", func(t *testing.T) {
		dir, mounted := smallDisk(t, 12<<20)
		if !mounted {
			t.Log("this process may not mount a small disk; the other test stands in for it")
			return
		}
		filler := filepath.Join(dir, "filler")
		runOutOfRoom(t, filepath.Join(dir, "usage.db"), func() {
			if err := fillUp(filler); !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("fill the disk: %v", err)
			}
		}, func() {
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
		})
	})
	// What a quota and a limit of the process have in common: files cannot grow beyond a size.
	t.Run("no file may grow", func(t *testing.T) {
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
		free := limit
		t.Cleanup(func() { syscall.Setrlimit(syscall.RLIMIT_FSIZE, &free) })
		runOutOfRoom(t, filepath.Join(t.TempDir(), "usage.db"), func() {
			limit.Cur = 600_000
			if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
				t.Fatal(err)
			}
		}, func() {
			if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &free); err != nil {
				t.Fatal(err)
			}
		})
	})
}

// fillUp writes a file for as long as there is room.
func fillUp(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	for size := 64 << 10; size > 0; size /= 2 { // to the last byte
		for err = nil; err == nil; {
			_, err = file.Write(make([]byte, size))
		}
	}
	return err
}

func runOutOfRoom(t *testing.T, path string, fill, room func()) {
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	w, stop := writing(t, store, ledger.Options{Patience: 3 * time.Second, RollEvery: 5 * time.Millisecond})
	durable := map[ledger.ID]bool{} // and whether the end row is, too
	record := func() error {
		b, e := exchange(w.IDs().Next(), 7)
		b.Label = strings.Repeat("a label ", 30)
		if err := w.Begin(b).Wait(t.Context()); err != nil {
			return err
		}
		durable[b.Exchange] = false
		if err := w.End(e).Wait(t.Context()); err != nil {
			return err
		}
		durable[b.Exchange] = true
		return nil
	}
	for range 50 {
		if err := record(); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 2 {
		fill()
		for n := 0; err == nil; n++ {
			if err = record(); n > 5000 {
				t.Fatal("there was room for 5000 exchanges more")
			}
		}
		if !errors.Is(err, ledger.ErrUnavailable) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "disk") {
			t.Errorf("round %d: %v; want an error that names the disk and the file", round, err)
		}
		if err := w.Admit(); !errors.Is(err, ledger.ErrUnavailable) {
			t.Errorf("round %d: admit: %v", round, err)
		}
		if n := len(everyID(t, store)); n < len(durable) {
			t.Errorf("round %d: %d exchanges are there while there is no room, and %d were durable", round, n, len(durable))
		}
		another := filepath.Join(filepath.Dir(path), "another.db")
		if s, err := sqlite.Open(t.Context(), another); err == nil {
			s.Close()
		} else if !strings.Contains(err.Error(), "disk") && !strings.Contains(err.Error(), "space") {
			t.Errorf("round %d: make another ledger: %v; want an error that names the disk", round, err)
		} else if _, err := os.Stat(another); err == nil {
			t.Errorf("round %d: there was no room for another ledger, and there is a part of it", round)
		}
		room()
		for end := time.Now().Add(20 * time.Second); w.Err() != nil; <-time.After(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("round %d: there is room again: %v", round, w.Err())
			}
		}
		for range 50 {
			if err = record(); err != nil {
				t.Fatalf("round %d: there is room again: %v", round, err)
			}
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	store, err = sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	all := everyID(t, store)
	for id, ended := range durable {
		if is, there := all[id]; !there || ended && !is {
			t.Errorf("%v was durable, its end too: %v; it is there: %v, with its end: %v", id, ended, there, is)
		}
	}
	reads(t, store, func(s ledger.Snapshot) {
		var requests, ended int64
		err := s.Hours(t.Context(), ledger.HourQuery{From: time.Unix(0, 0), To: time.Now().Add(2 * time.Hour)}, func(_ ledger.Hour, s ledger.Sums) error {
			requests += s.Requests
			return nil
		})
		for _, is := range all {
			if is {
				ended++
			}
		}
		if err != nil || requests != ended {
			t.Errorf("sums of %d exchanges, %v; %d have ended", requests, err, ended)
		}
	})
	sound(t, path)
}
