package journal

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

const fuzzed = 0x5eed

// Whatever two files hold, what is read of each is rows that were written there, one after the other from the first on, and all of one batch.
//
// A script says what was written to them, by whom, and what became of it since; a byte each:
//
//	0x00–0x5f  a frame of the batch with that number follows what was written last
//	0x60–0x6f  one of another ledger
//	0x70–0x7f  so many bytes of noise
//	0x80–0x8f  what follows is in the other file
//	0x90–0x9f  the file is written anew from its beginning, and what is not written over stays
//	0xa0–0xaf  the next two bytes are an offset, and the one there is another from now on
//	0xb0–0xbf  the next two bytes are an offset, at which the file ends
//	0xc0–0xff  the next four bytes are written over the length of the last frame
func FuzzFiles(f *testing.F) {
	f.Add([]byte{8, 8, 8, 0x80, 9, 9})
	f.Add([]byte{8, 8, 8, 0xa0, 0, 40, 0x80, 9, 0xb0, 0, 30})
	f.Add([]byte{6, 6, 6, 6, 0x90, 8, 8, 0xa0, 0, 100, 0x80, 7, 7})
	f.Add([]byte{8, 0xc0, 0xff, 0xff, 0xff, 0xff, 8, 0x80, 9, 0xc0, 0xff, 0xff, 0xff, 0x7f})
	f.Add([]byte{0x60, 8, 0x75, 8, 0x80, 8, 9, 10})
	f.Add([]byte{20, 20, 0x90, 0x90, 10, 0x80, 0x7f, 0x90, 9})
	path := filepath.Join(f.TempDir(), "usage.db")
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 4000 {
			return
		}
		wrote := play(script)
		for i, name := range Names(path) {
			if err := os.WriteFile(name, wrote[i].content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		files, err := Read(path, fuzzed)
		runtime.ReadMemStats(&after)
		if err != nil || len(files) != 2 {
			t.Fatalf("%d files were read, %v", len(files), err)
		}
		size := uint64(len(wrote[0].content) + len(wrote[1].content))
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20+100*size {
			t.Errorf("%d bytes took %d of memory", size, took)
		}
		for i, name := range Names(path) {
			for _, file := range files {
				if file.Path == name {
					wrote[i].judge(t, file)
				}
			}
		}
	})
}

// tape is a file, and the frames that are whole at its beginning.
type tape struct {
	content []byte
	at      int // where the next frame goes
	frames  []frame
}

type frame struct {
	begin, end int
	batch      *ledger.Batch // nil: of another ledger
	wrote      []byte
}

func (f *frame) number() int64 {
	if f.batch == nil {
		return 0
	}
	return f.batch.Number
}

// play does what a script says.
func play(script []byte) *[2]tape {
	var both [2]tape
	to, row := &both[0], 0
	take := func(n int) []byte {
		four := make([]byte, 4)
		copy(four, script[:min(n, len(script))])
		script = script[min(n, len(script)):]
		return four
	}
	for len(script) > 0 {
		op := take(1)[0]
		switch {
		case op < 0x70:
			row++
			to.frame(op, row)
		case op < 0x80:
			to.write(to.at, make([]byte, op-0x70))
			to.at += int(op - 0x70)
		case op < 0x90:
			to = &both[1]
		case op < 0xa0:
			to.at = 0
		case op < 0xb0:
			if at := int(binary.BigEndian.Uint16(take(2))); at < len(to.content) {
				to.content[at] ^= op<<4 | 1
			}
		case op < 0xc0:
			at := int(binary.BigEndian.Uint16(take(2)))
			to.content = to.content[:min(at, len(to.content))]
			to.at = min(to.at, len(to.content))
		case len(to.frames) > 0:
			if last := to.frames[len(to.frames)-1]; last.begin+8 <= len(to.content) {
				copy(to.content[last.begin+4:], take(4))
			}
		}
	}
	return &both
}

// frame writes a frame of the batch with a number.
func (f *tape) frame(number byte, row int) {
	j := New("", fuzzed)
	if number >= 0x60 {
		j = New("", fuzzed+1)
	}
	b := &ledger.Batch{Slot: 1, Number: int64(number), Begins: []*ledger.Begin{{Exchange: ledger.ID(row), Model: "gpt-5-mini", Charges: []ledger.Charge{{N: int64(row)}}}}}
	bytes := j.encode(nil, b)
	one := frame{begin: f.at, end: f.at + len(bytes), batch: b, wrote: bytes}
	if number >= 0x60 {
		one.batch = nil
	}
	f.write(f.at, bytes)
	f.at = one.end
	f.frames = append(f.frames, one)
}

func (f *tape) write(at int, bytes []byte) {
	f.content = slices.Concat(f.content[:at], bytes, f.content[min(len(f.content), at+len(bytes)):])
}

// judge fails the test unless what was read of a file is what frames at its beginning hold that are as they were written, and, where it is
// not said to be damaged, no newer one is whole behind them.
func (f *tape) judge(t *testing.T, read File) {
	t.Helper()
	whole := func(at int) *frame {
		for i := len(f.frames) - 1; i >= 0; i-- {
			if one := &f.frames[i]; one.begin == at && one.batch != nil && one.end <= len(f.content) && string(f.content[one.begin:one.end]) == string(one.wrote) {
				return one
			}
		}
		return nil
	}
	var want *ledger.Batch
	at := 0
	for one := whole(0); one != nil && (want == nil || one.batch.Number == want.Number); one = whole(at) {
		if at = one.end; want == nil {
			copied := *one.batch
			want = &copied
			continue
		}
		want.Begins = slices.Concat(want.Begins, one.batch.Begins)
	}
	if diff := cmp.Diff(want, read.Batch, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("other rows were read than were written (-want +got):\n%s", diff)
	}
	if read.Damage != "" && (read.Offset != int64(at) || at == len(f.content)) {
		t.Errorf("damage is said to begin at %d of %d, and %d bytes are whole: %s", read.Offset, len(f.content), at, read.Damage)
	}
	if read.Damage != "" {
		return
	}
	first, _ := headOf(f.content)
	for i := range f.frames {
		one := &f.frames[i]
		if want == nil && first.identity == fuzzed && first.number > one.number() && one.begin >= pageSize && first.size > pageSize {
			continue // a frame that was torn has not come to write over it
		}
		if one.begin >= at && whole(one.begin) == one && (want == nil || one.batch.Number >= want.Number) {
			t.Errorf("a whole frame of batch %d at %d follows what was read, up to %d, and nothing is said", one.batch.Number, one.begin, at)
		}
	}
}
