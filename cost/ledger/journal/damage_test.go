package journal_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/journal"
)

// written is a file of a journal after each of some writes of batch 8, over what was left of batch 6.
type written struct {
	t    *testing.T
	path string
	list [][]byte // from before the first on
	ends []int    // of the frames
}

// writes keeps a row with a text of each of the sizes, over a file of a batch that has taken some bytes.
func writes(t *testing.T, before int, sizes ...int) *written {
	t.Helper()
	w := &written{t: t, path: filepath.Join(t.TempDir(), "usage.db")}
	j := journal.New(w.path, identity)
	look := func() int {
		content, err := os.ReadFile(w.path + "-tail0")
		if err != nil {
			t.Fatal(err)
		}
		w.list = append(w.list, content)
		return len(content)
	}
	old := &ledger.Batch{Slot: 1, Number: 6, Prices: []ledger.PriceCard{{Card: strings.Repeat("old.", 50)}}}
	keep(t, j, old)
	for look() < before {
		keep(t, j, old)
	}
	keep(t, j, &ledger.Batch{Slot: 1, Number: 7})
	w.list = w.list[len(w.list)-1:]
	end := 0
	for i, size := range sizes {
		keep(t, j, &ledger.Batch{Slot: 1, Number: 8, Prices: []ledger.PriceCard{{Version: string(rune('a' + i)), Card: strings.Repeat("new!", size/4)}}})
		look()
		end += journal.FrameSize(w.list[i+1][end:])
		w.ends = append(w.ends, end)
	}
	return w
}

// file is what is found where the file has some content.
func (w *written) file(content []byte) journal.File {
	w.t.Helper()
	if err := os.WriteFile(w.path+"-tail0", content, 0o600); err != nil {
		w.t.Fatal(err)
	}
	files, err := journal.Read(w.path, identity)
	if err != nil {
		w.t.Fatal(err)
	}
	at := slices.IndexFunc(files, func(f journal.File) bool { return f.Path == w.path+"-tail0" })
	return files[at]
}

// rows is how many rows were read of batch 8.
func rows(f journal.File) int {
	if f.Batch == nil || f.Batch.Number != 8 {
		return 0
	}
	return len(f.Batch.Prices)
}

var shapes = map[string]*struct {
	before int
	sizes  []int
}{
	"a new file":             {0, []int{100, 300, 5000, 100, 9000, 100}},
	"over an earlier batch":  {40_000, []int{100, 300, 5000, 100, 9000, 100}},
	"over a shorter batch":   {6000, []int{300, 5000, 100, 9000, 100}},
	"many that are small":    {20_000, slices.Repeat([]int{100}, 60)},
	"one that is large":      {0, []int{20_000}},
	"a large one over many":  {40_000, []int{9000, 100}},
	"a large one over one":   {6000, []int{9000}},
	"a larger one over one":  {5000, []int{20_000, 300}},
	"a file that only grows": {0, slices.Repeat([]int{1500}, 12)},
}

// A process that is killed leaves some pages of the frame that it was writing. No rows are missing then, and nothing is said.
func TestAKillIsNoDamage(t *testing.T) {
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			w := writes(t, shape.before, shape.sizes...)
			if f := w.file(w.list[0]); f.Damage != "" {
				t.Errorf("before the first: %s", f.Damage)
			}
			for i, end := range w.ends {
				begin := 0
				if i > 0 {
					begin = w.ends[i-1]
				}
				if f := w.file(w.list[i+1]); f.Damage != "" || rows(f) != i+1 {
					t.Errorf("%d rows were read after %d writes, damage: %q", rows(f), i+1, f.Damage)
				}
				for page := (begin/4096 + 1) * 4096; page < end; page += 4096 {
					content := slices.Concat(w.list[i+1][:page], w.list[i][min(page, len(w.list[i])):])
					if f := w.file(content); f.Damage != "" || rows(f) != i {
						t.Errorf("%d rows were read where write %d ends after %d bytes, damage: %q", rows(f), i, page-begin, f.Damage)
					}
				}
			}
		})
	}
}

// A bit that is flipped is noticed wherever it is: behind it there are whole frames, or what is there cannot come of a kill.
func TestAFlippedBitIsDamage(t *testing.T) {
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			w := writes(t, shape.before, shape.sizes...)
			whole := w.list[len(w.list)-1]
			for i, end := range w.ends {
				begin := 0
				if i > 0 {
					begin = w.ends[i-1]
				}
				last := i == len(w.ends)-1
				for at := begin; at < end; at += 1 + (end-begin)/40 {
					if last && (at < begin+28 || i > 0 && begin/4096 != (end-1)/4096) {
						continue // as if nothing had been written, or torn
					}
					content := slices.Clone(whole)
					content[at] ^= 0x10
					if f := w.file(content); f.Damage == "" || f.Offset != int64(begin) || rows(f) != i {
						t.Errorf("a bit at %d, in frame %d, which begins at %d: %d rows were read, damage at %d: %q", at, i, begin, rows(f), f.Offset, f.Damage)
					}
				}
			}
		})
	}
}

// After a power loss, pages are as they were at some time or other, or zero.
func TestOldPagesAreDamage(t *testing.T) {
	w := writes(t, 40_000, slices.Repeat([]int{600}, 30)...)
	whole := w.list[len(w.list)-1]
	for page := 0; page+4096 < w.ends[len(w.ends)-1]; page += 4096 {
		for name, was := range map[string][]byte{"old": w.list[0][page : page+4096], "zero": make([]byte, 4096)} {
			f := w.file(slices.Concat(whole[:page], was, whole[page+4096:]))
			if f.Damage == "" || f.Newest != 8 {
				t.Errorf("%s page at %d: damage %q, newest batch %d", name, page, f.Damage, f.Newest)
			}
		}
	}
}

func TestWhatIsNoJournal(t *testing.T) {
	w := writes(t, 0, 100)
	for name, content := range map[string]string{"a text": "hello", "zeros": string(make([]byte, 8192)), "a frame without its end": string(w.list[1][:60])} {
		if f := w.file([]byte(content)); f.Damage == "" || f.Batch != nil || f.Offset != 0 {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if f := w.file(nil); f.Damage != "" || f.Batch != nil {
		t.Errorf("an empty file: %+v", f)
	}
	other := journal.New(w.path, identity+1)
	keep(t, other, full(8))
	content, err := os.ReadFile(w.path + "-tail0")
	if err != nil {
		t.Fatal(err)
	}
	if f := w.file(content); !strings.Contains(f.Damage, "another ledger") || f.Batch != nil {
		t.Errorf("another ledger's: %+v", f)
	}
}
