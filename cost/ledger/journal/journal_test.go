package journal_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/journal"
)

const identity = -0x0123456789abcdef

// fill gives every field of v a value of its own, and every list two.
func fill(v reflect.Value, next *int64) {
	switch at := v.Addr().Interface().(type) {
	case *time.Time:
		*next++
		*at = time.UnixMicro(1_700_000_000_000_000 + *next)
		return
	case **ledger.Roll: // sums are not kept
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), next)
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, next)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), next)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), next)
		}
	case reflect.String:
		*next++
		v.SetString("text " + string(rune('a'+*next%26)) + "\u00e9")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		*next++
		v.SetUint(uint64(*next % 200))
	case reflect.Int, reflect.Int64:
		*next++
		v.SetInt(*next * -1_000_003 * (1 - 2*(*next%2)))
	default:
		panic("no value for a " + v.Type().String())
	}
}

// full is a batch with rows of every kind, every field of which has a value of its own.
func full(number int64) *ledger.Batch {
	b, next := &ledger.Batch{}, number*1000
	fill(reflect.ValueOf(b).Elem(), &next)
	b.Slot, b.Number = 7, number
	b.Refusals, b.Oldest = nil, 0 // not kept: those are sums, and that is the store's
	return b
}

func read(t *testing.T, path string, want ...*ledger.Batch) {
	t.Helper()
	files, err := journal.Read(path, identity)
	if err != nil {
		t.Fatal(err)
	}
	var got []*ledger.Batch
	for _, f := range files {
		if f.Batch != nil {
			got = append(got, f.Batch)
		}
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the journal holds other rows than were kept (-want +got):\n%s", diff)
	}
}

func keep(t *testing.T, j *journal.Journal, list ...*ledger.Batch) {
	t.Helper()
	for _, b := range list {
		if err := j.Keep(b); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEveryFieldComesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.db")
	read(t, path)
	keep(t, journal.New(path, identity), full(5))
	read(t, path, full(5))
}

// Rows that are kept one after the other are of one batch; those of the batch before the last are in the store, and forgotten.
func TestTwoBatchesAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.db")
	j := journal.New(path, identity)
	for n := range int64(5) {
		keep(t, j, full(100+n), full(100+n))
		twice := func(n int64) *ledger.Batch {
			b, more := full(n), full(n)
			b.Begins, b.Draws, b.Ends = append(b.Begins, more.Begins...), append(b.Draws, more.Draws...), append(b.Ends, more.Ends...)
			b.Corrections, b.Prices, b.Notices = append(b.Corrections, more.Corrections...), append(b.Prices, more.Prices...), append(b.Notices, more.Notices...)
			b.Owned, b.Grown = append(b.Owned, more.Owned...), append(b.Grown, more.Grown...)
			return b
		}
		want := []*ledger.Batch{twice(100 + n)}
		if n > 0 {
			want = []*ledger.Batch{twice(99 + n), want[0]}
		}
		read(t, path, want...)
	}
	if err := j.Keep(full(102)); err == nil {
		t.Error("rows of a batch were kept that is in the store since long")
	}
	if err := j.Clear(); err != nil {
		t.Fatal(err)
	}
	read(t, path)
	if left, err := filepath.Glob(path + "*"); len(left) > 0 || err != nil {
		t.Errorf("files are left: %v %v", left, err)
	}
	keep(t, j, full(200))
	read(t, path, full(200))
}

// What was left by another ledger that was at the same place is no business of this one.
func TestAnotherLedgersJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.db")
	keep(t, journal.New(path, identity+1), full(5))
	read(t, path)
}

// What another version of this program has left is not taken for something else, nor forgotten.
func TestAnotherVersionsJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.db")
	keep(t, journal.New(path, identity), full(5))
	if err := journal.Reformat(path+"-tail1", 2); err != nil {
		t.Fatal(err)
	}
	if got, err := journal.Read(path, identity); err == nil || !strings.Contains(err.Error(), "usage.db-tail1") {
		t.Errorf("got %v and %v, want an error that names the file", got, err)
	}
}

// Where somebody has tidied up, files are made again: rows in a file that has no name outlast nothing.
func TestFilesThatWereRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.db")
	j := journal.New(path, identity)
	keep(t, j, full(1), full(2))
	if err := journal.Remove(path); err != nil {
		t.Fatal(err)
	}
	keep(t, j, full(3))
	read(t, path, full(3))
	if err := os.Rename(path+"-tail1", path+"-tail0"); err != nil {
		t.Fatal(err)
	}
	keep(t, j, full(4), full(5))
	read(t, path, full(4), full(5))
}

// A file that ends anywhere, or is damaged anywhere, holds whole frames up to there.
func TestTornAnywhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.db")
	small := func(n int64) *ledger.Batch {
		return &ledger.Batch{Slot: 1, Number: 8, Begins: []*ledger.Begin{{Exchange: ledger.ID(n), Model: "m", Charges: []ledger.Charge{{N: n}}}}}
	}
	j := journal.New(path, identity)
	var ends []int64
	for n := range int64(3) {
		keep(t, j, small(n))
		info, err := os.Stat(path + "-tail0")
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, info.Size())
	}
	whole, err := os.ReadFile(path + "-tail0")
	if err != nil {
		t.Fatal(err)
	}
	look := func(content []byte, damaged int) {
		t.Helper()
		if err := os.WriteFile(path+"-tail0", content, 0o600); err != nil {
			t.Fatal(err)
		}
		var want []*ledger.Batch
		for n, end := range ends {
			switch {
			case end > int64(damaged):
			case n == 0:
				want = append(want, small(0))
			default:
				want[0].Begins = append(want[0].Begins, small(int64(n)).Begins...)
			}
		}
		read(t, path, want...)
	}
	for i := range whole {
		look(whole[:i], i)
		broken := append([]byte(nil), whole...)
		broken[i] ^= 0x10
		look(broken, i)
	}
	look(whole, len(whole))
}

// A batch that took much gives the room back when its file is written anew.
func TestLargeBatchesLeaveNoLargeFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.db")
	j := journal.New(path, identity)
	large := &ledger.Batch{Number: 1, Prices: []ledger.PriceCard{{Card: string(make([]byte, 4<<20))}}}
	keep(t, j, large, full(2), full(3))
	info, err := os.Stat(path + "-tail1")
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 100<<10 {
		t.Errorf("a file of a small batch has %d bytes", info.Size())
	}
	read(t, path, full(2), full(3))
}

func TestNothingCanBeKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "usage.db")
	if err := journal.New(path, identity).Keep(full(1)); err == nil {
		t.Error("rows were kept in a directory that is not there")
	}
}
