package upstream_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/proxy/upstream"
)

func named(t *testing.T, name string) *upstream.Upstream {
	t.Helper()
	u, err := upstream.New(upstream.Options{Name: name, URL: "http://" + name + "/v1", Key: "sk-" + name})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func poolOf(t *testing.T, weights map[string]int) (pool []upstream.Member) {
	t.Helper()
	for _, name := range []string{"a", "b", "c", "d"} {
		if w := weights[name]; w > 0 {
			pool = append(pool, upstream.Member{Upstream: named(t, name), Name: name, Weight: w, Priority: 1})
		}
	}
	return pool
}

// first is who is asked first.
func first(pool []upstream.Member, sticky string) string {
	return pool[upstream.Order(pool, sticky, "m")[0]].Upstream.Name
}

// TestWeightsShareCallers: each upstream has its share of the names, within four standard deviations of what chance would give.
func TestWeightsShareCallers(t *testing.T) {
	const n = 20_000
	weights := map[string]int{"a": 1, "b": 2, "c": 7}
	pool := poolOf(t, weights)
	got := map[string]int{}
	for i := range n {
		got[first(pool, fmt.Sprintf("caller-%d", i))]++
	}
	for name, w := range weights {
		share := float64(w) / 10
		want, deviation := share*n, math.Sqrt(share*(1-share)*n)
		if math.Abs(float64(got[name])-want) > 4*deviation {
			t.Errorf("%s has %d of %d callers, want %.0f ± %.0f", name, got[name], n, want, 4*deviation)
		}
	}
}

// TestOnlyTheShareOfOneMoves: whoever does not belong to an upstream that goes stays where it is.
func TestOnlyTheShareOfOneMoves(t *testing.T) {
	all, without := poolOf(t, map[string]int{"a": 1, "b": 2, "c": 3}), poolOf(t, map[string]int{"a": 1, "c": 3})
	moved := 0
	for i := range 2000 {
		name := fmt.Sprintf("caller-%d", i)
		before, after := first(all, name), first(without, name)
		if before == "b" {
			moved++
		} else if before != after {
			t.Fatalf("%s moved from %s to %s though only b went", name, before, after)
		}
	}
	if moved == 0 {
		t.Error("nobody was at b")
	}
}

// TestTheOrderIsTheSameEverywhere: it hangs on names alone, so that every process finds the same upstream for a caller.
func TestTheOrderIsTheSameEverywhere(t *testing.T) {
	pool := poolOf(t, map[string]int{"a": 1, "b": 1, "c": 1, "d": 1})
	for sticky, want := range map[string][]int{"alice\x00": {3, 1, 2, 0}, "bob\x00": {2, 0, 3, 1}, "alice\x00session-7": {1, 0, 2, 3}} {
		if got := upstream.Order(pool, sticky, "m"); !slices.Equal(got, want) {
			t.Errorf("%q goes to %v, and went to %v before", sticky, got, want)
		}
	}
}

func TestPriorityGoesBeforeWeight(t *testing.T) {
	pool := poolOf(t, map[string]int{"a": 1000, "b": 1, "c": 1})
	pool[0].Priority = 2
	for i := range 200 {
		if order := upstream.Order(pool, fmt.Sprint(i), "m"); order[2] != 0 {
			t.Fatalf("the order is %v, and 0 is for when the others cannot", order)
		}
	}
}

// TestAnUpstreamThatFailsRests: after three failures in a row others go first, then one call finds out whether it is well; each time it
// is not, the rest doubles, up to a minute.
func TestAnUpstreamThatFailsRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := named(t, "a")
		for range 2 {
			u.Sending()
			if rest := u.Failed(); rest != 0 || !u.Ready("m") {
				t.Fatalf("it rests for %s after fewer failures than three", rest)
			}
		}
		for _, want := range []time.Duration{5, 10, 20, 40, 60, 60} {
			u.Sending()
			if rest := u.Failed(); rest != want*time.Second {
				t.Fatalf("it rests for %s, want %d s", rest, want)
			}
			if rest := u.Failed(); rest != 0 {
				t.Fatalf("a call that was under way makes it rest for %s more", rest)
			}
			time.Sleep(want*time.Second - 1)
			if u.Ready("m") {
				t.Fatal("it is asked before its rest is over")
			}
			time.Sleep(time.Nanosecond)
			if !u.Ready("m") {
				t.Fatal("nobody finds out whether it is well")
			}
			u.Sending()
			if u.Ready("m") {
				t.Fatal("more than one call finds out whether it is well")
			}
		}
		u.Served()
		if !u.Ready("m") {
			t.Error("it is well, and not asked")
		}
		u.Failed()
		u.Failed()
		u.Served()
		u.Failed()
		if rest := u.Failed(); rest != 0 {
			t.Error("failures count that were not in a row")
		}
	})
}

// TestAnUpstreamThatHangsRestsAtOnce, and of the calls that find out whether it is well, of which nothing is heard, there are ever fewer.
func TestAnUpstreamThatHangsRestsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := named(t, "a")
		u.Sending()
		if rest := u.Hung(); rest != 5*time.Second || u.Ready("m") {
			t.Fatalf("it rests for %s after a call that hung", rest)
		}
		if rest := u.Hung(); rest != 0 {
			t.Fatalf("a call that was under way makes it rest for %s more", rest)
		}
		asked := 0
		for range 20 * 60 {
			if u.Ready("m") {
				u.Sending()
				asked++
			}
			time.Sleep(time.Second)
		}
		if asked < 20 || asked > 25 { // 5, 10, 20, 40, and then every minute
			t.Errorf("%d calls wait for it after 20 minutes", asked)
		}
		u.Served()
		if !u.Ready("m") {
			t.Error("it is well, and not asked")
		}
	})
}

func TestAnUpstreamThatIsFullIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for said, want := range map[time.Duration]time.Duration{0: time.Second, 7 * time.Second: 7 * time.Second, time.Hour: 30 * time.Second} {
			u := named(t, "a")
			u.Full("m", said)
			u.Full("m", time.Millisecond) // what was said first still holds
			if !u.Ready("other") {
				t.Error("it has room for another model, and is not asked")
			}
			time.Sleep(want - 1)
			if u.Ready("m") {
				t.Errorf("it is asked although it is full for %s", said)
			}
			time.Sleep(time.Nanosecond)
			if !u.Ready("m") {
				t.Errorf("it is left alone for longer than %s", want)
			}
		}
	})
}

// TestThoseThatRestAreLast: but they are not left out, for all may rest and one be well.
func TestThoseThatRestAreLast(t *testing.T) {
	pool := poolOf(t, map[string]int{"a": 1, "b": 1, "c": 1})
	pool[2].Priority = 9
	for i := range 2 {
		for range 3 {
			pool[i].Upstream.Failed()
		}
	}
	if order := upstream.Order(pool, "x", "m"); order[0] != 2 || len(order) != 3 {
		t.Errorf("the order is %v, and only 2 is well", order)
	}
}

// TestHealthOutlastsAReload: of the same server under the same key.
func TestHealthOutlastsAReload(t *testing.T) {
	old, same := named(t, "a"), named(t, "a")
	for range 3 {
		old.Failed()
	}
	same.Inherit(old)
	if same.Ready("m") {
		t.Error("it is thought well again")
	}
	other, err := upstream.New(upstream.Options{Name: "a", URL: "http://a/v1", Key: "sk-new"})
	if err != nil {
		t.Fatal(err)
	}
	if other.Inherit(old); !other.Ready("m") {
		t.Error("another key is thought unwell")
	}
}
