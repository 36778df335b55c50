package ledger_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Rows of what is owned go with a group commit, dated, of bounded length, and under a name that keeps keys apart.
func TestOwnedRowsGoWithAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{})
		long := strings.Repeat("k", 300)
		now := time.Now()
		durable(t, w.Own([]*ledger.Owned{
			{ID: "resp_1", Kind: ledger.Response, Key: long + "a", Tokens: -5}, {ID: "resp_2", Kind: ledger.Response, Key: long + "b", Tokens: 1 << 62, Made: now.Add(-time.Hour)},
		}))
		durable(t, w.Grow([]*ledger.Growth{{ID: "resp_1", Tokens: -7}, {ID: "resp_2", Gone: true}}))
		stopped(t, stop)
		m.look(func() {
			var owned []*ledger.Owned
			var grown []*ledger.Growth
			for _, c := range m.committed {
				owned, grown = append(owned, c.batch.Owned...), append(grown, c.batch.Grown...)
			}
			if len(owned) != 2 || len(grown) != 2 {
				t.Fatalf("%d and %d rows were written", len(owned), len(grown))
			}
			if a, b := owned[0], owned[1]; a.Key == b.Key || len(a.Key) > 256 || a.Tokens != 0 || b.Tokens != 1<<50 || !a.Made.Equal(now) || !b.Made.Equal(now.Add(-time.Hour)) {
				t.Errorf("%+v, %+v", a, b)
			}
			if grown[0].Tokens != 0 || grown[0].Gone || !grown[1].Gone {
				t.Errorf("%+v, %+v", grown[0], grown[1])
			}
		})
		if s := w.Stats(); s.Rows != 4 {
			t.Errorf("%d rows, want 4", s.Rows)
		}
	})
}

// Where serving goes before recording, rows of what is owned are lost when memory is full, each of them counted.
func TestOwnedRowsMayBeLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{Serve: true, MostQueued: 10})
		m.onCommit(broken, nil)
		w.Own([]*ledger.Owned{{ID: "first", Key: "key"}})
		time.Sleep(50 * time.Millisecond)
		lost := 0
		for range 20 {
			if w.Own([]*ledger.Owned{{ID: "a", Key: "key"}, {ID: "b", Key: "key"}, {ID: "c", Key: "key"}}).Lost() {
				lost++
			}
		}
		if s := w.Stats(); lost != 16 || s.Lost != int64(3*lost) {
			t.Errorf("%d of 20 were lost, want 16; %+v", lost, s)
		}
		m.onCommit(nil, nil)
		time.Sleep(2 * time.Second)
		stopped(t, stop)
	})
}

// What nobody can read is unavailable; nothing is read for no ids.
func TestOwnedThatCannotBeRead(t *testing.T) {
	w, stop := run(t, newMemory(t), ledger.Options{}) // which cannot be read
	if list, err := w.Owned(t.Context(), "key", []string{"a"}); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("%v, %v", list, err)
	}
	if list, err := w.Owned(t.Context(), "key", nil); err != nil || len(list) != 0 {
		t.Errorf("of none: %v, %v", list, err)
	}
	stopped(t, stop)
}

func TestForgotten(t *testing.T) {
	now := time.Now()
	for kind, lasts := range map[ledger.ObjectKind]bool{
		ledger.Response: false, ledger.Item: false, ledger.Completion: false, ledger.Conversation: true, ledger.ConversationItem: true, ledger.File: true, ledger.Container: false,
	} {
		old := ledger.Owned{Kind: kind, Made: now.Add(-ledger.OwnedFor)}
		young := ledger.Owned{Kind: kind, Made: now.Add(-ledger.OwnedFor + 1)}
		if kind.Lasts() != lasts || old.Forgotten(now) == lasts || young.Forgotten(now) {
			t.Errorf("%s: lasts %v; forgotten %v and %v", kind, kind.Lasts(), old.Forgotten(now), young.Forgotten(now))
		}
	}
}
