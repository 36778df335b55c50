package ledgertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

func (v view) owned(key string, ids ...string) []ledger.Owned {
	v.t.Helper()
	list, err := v.s.Owned(v.t.Context(), key, ids)
	v.must("owned", err)
	slices.SortFunc(list, func(a, b ledger.Owned) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// owns is what a key owns of some objects, as a new snapshot has it.
func owns(t testing.TB, s ledger.Store, key string, ids ...string) []ledger.Owned {
	t.Helper()
	return glance(t, s, func(v view) []ledger.Owned { return v.owned(key, ids...) })
}

// object is a row of alice's.
func object(id string, kind ledger.ObjectKind, at time.Time) *ledger.Owned {
	return &ledger.Owned{ID: id, Kind: kind, Key: "alice", Upstream: "openai", Of: "of " + id, Made: at.Truncate(time.Microsecond), Tokens: 100}
}

// What a key owns is read back by that key alone, whoever opens the ledger; the first who has an object made owns it.
func ownedByKey(t *testing.T, _ Harness, l Ledger) {
	at := time.Now()
	c := hire(t, l)
	a, b, theirs := object("resp_1", ledger.Response, at), object("file-1", ledger.File, at), object("conv_1", ledger.Conversation, at)
	theirs.Key = "bob"
	c.batch.Owned = []*ledger.Owned{a, b, theirs}
	c.commit()
	late := *theirs
	late.Key, late.Tokens = "alice", 7
	again := *a
	again.Key = "bob"
	c.batch.Owned = []*ledger.Owned{&late, &again}
	c.commit()
	c.leave()

	c = hire(t, l)
	defer c.leave()
	for _, store := range []ledger.Store{c.store, reading(t, l)} {
		same(t, "alice's", owns(t, store, "alice", "file-1", "resp_1", "conv_1", "resp_2"), []ledger.Owned{*b, *a})
		same(t, "bob's", owns(t, store, "bob", "file-1", "resp_1", "conv_1"), []ledger.Owned{*theirs})
		same(t, "nobody's", owns(t, store, "", "file-1", "resp_1", "conv_1"), []ledger.Owned{})
		same(t, "of none", owns(t, store, "alice"), []ledger.Owned{})
	}
}

// Many are looked up at once, of many that are there.
func ownedMany(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	defer c.leave()
	var ids []string
	var want []ledger.Owned
	for i := range 300 {
		o := object(fmt.Sprintf("msg_%03d", i), ledger.Item, time.Now())
		if i%3 == 0 {
			o.Key = "bob"
		} else {
			want = append(want, *o)
		}
		ids = append(ids, o.ID)
		c.batch.Owned = append(c.batch.Owned, o)
	}
	slices.Reverse(c.batch.Owned)
	c.commit()
	same(t, "alice's", owns(t, c.store, "alice", ids...), want)
}

// Objects grow by what is added, in any number of batches, and each batch counts once; they do not grow without end.
func ownedGrows(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	defer c.leave()
	o := object("conv_1", ledger.Conversation, time.Now())
	c.batch.Owned = []*ledger.Owned{o}
	c.batch.Grown = []*ledger.Growth{{ID: "conv_1", Tokens: 5}, {ID: "conv_2", Tokens: 9}}
	c.commit()
	c.batch.Grown = []*ledger.Growth{{ID: "conv_1", Tokens: 20}, {ID: "conv_1", Tokens: 3}}
	b := c.commit()
	if err := c.store.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	o.Tokens = 128
	same(t, "grown", owns(t, c.store, "alice", "conv_1", "conv_2"), []ledger.Owned{*o})
	for range 3 {
		c.batch.Grown = append(c.batch.Grown, &ledger.Growth{ID: "conv_1", Tokens: 1 << 50})
	}
	c.commit()
	o.Tokens = 1 << 50
	same(t, "grown without end", owns(t, c.store, "alice", "conv_1"), []ledger.Owned{*o})
}

// What was deleted is nobody's, for good: its id is not given to somebody else.
func ownedGoes(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	defer c.leave()
	c.batch.Owned = []*ledger.Owned{object("file-1", ledger.File, time.Now())}
	c.batch.Grown = []*ledger.Growth{{ID: "file-1", Gone: true}}
	c.commit()
	theirs := object("file-1", ledger.File, time.Now())
	theirs.Key = "bob"
	c.batch.Owned = []*ledger.Owned{theirs}
	c.batch.Grown = []*ledger.Growth{{ID: "file-1", Tokens: 1}}
	c.commit()
	same(t, "alice's", owns(t, c.store, "alice", "file-1"), []ledger.Owned{})
	same(t, "bob's", owns(t, c.store, "bob", "file-1"), []ledger.Owned{})
}

// What providers drop by themselves is forgotten when it is older than they keep it, as is what was deleted; all else stays.
func ownedForgotten(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	defer c.leave()
	now := time.Now()
	old, young := now.Add(-ledger.OwnedFor-time.Minute), now.Add(-ledger.OwnedFor+time.Hour)
	var ids []string
	var want []ledger.Owned
	for i, kind := range []ledger.ObjectKind{ledger.Response, ledger.Item, ledger.Completion, ledger.Conversation, ledger.ConversationItem, ledger.File, ledger.Container} {
		for j, at := range []time.Time{old, young, old} {
			o := object(fmt.Sprintf("id_%d%d", i, j), kind, at)
			ids = append(ids, o.ID)
			c.batch.Owned = append(c.batch.Owned, o)
			if j == 2 {
				c.batch.Grown = append(c.batch.Grown, &ledger.Growth{ID: o.ID, Gone: true})
			}
			if j == 1 || j == 0 && kind.Lasts() {
				want = append(want, *o)
			}
		}
	}
	c.commit()
	c.prune(now, 10)
	same(t, "not forgotten", owns(t, c.store, "alice", ids...), want)
	var again []*ledger.Owned // what is forgotten, and only that, can be made anew
	for _, id := range ids {
		o := object(id, ledger.File, now)
		o.Key = "bob"
		again = append(again, o)
	}
	c.batch.Owned = again
	c.commit()
	same(t, "not forgotten", owns(t, c.store, "alice", ids...), want)
	if got := len(owns(t, c.store, "bob", ids...)); got != len(ids)-len(want) {
		t.Errorf("%d objects were forgotten, want %d", got, len(ids)-len(want))
	}
}
