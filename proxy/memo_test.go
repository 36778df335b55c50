package proxy

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
)

func TestMemoIsBoundedAndForgets(t *testing.T) {
	var m memo
	refuse := func(name, body string, input int64) {
		m.remember(&exchange{caller: &caller{name: name}, began: time.Unix(0, 0), attempt: attempt{refused: &refusal{estimate: cost.Estimate{Input: input}}}}, []byte(body))
	}
	if _, ok := m.recall(asking("alice"), []byte("x")); ok {
		t.Error("an empty memo knows something")
	}
	refuse("alice", "x", 7)
	if _, ok := m.recall(asking("bob"), []byte("x")); ok {
		t.Error("one caller's refusal is another's")
	}
	if e, ok := m.recall(asking("alice"), []byte("x")); !ok || e.estimate.Input != 7 {
		t.Errorf("recalled %v, %v", e, ok)
	}
	if _, ok := m.recall(asking("alice"), []byte("x")); ok || len(m.of) != 0 {
		t.Errorf("recalled twice; %d callers are still known", len(m.of))
	}
	var callers sync.WaitGroup
	for c := range 8 {
		callers.Go(func() {
			for i := range memoSize {
				refuse("c"+strconv.Itoa(c), strconv.Itoa(i), 1)
				m.recall(asking("c"+strconv.Itoa(c)), []byte(strconv.Itoa(i/2)))
			}
		})
	}
	callers.Wait()
	total := 0
	for _, n := range m.of {
		total += n
	}
	if len(m.known) > memoSize || total != len(m.known) {
		t.Errorf("%d entries, %d counted by caller, at most %d wanted", len(m.known), total, memoSize)
	}
	m.clear()
	if len(m.known)+len(m.of) != 0 {
		t.Error("clear left something")
	}
}

// asking is an exchange of a caller.
func asking(name string) *exchange {
	return &exchange{caller: &caller{name: name}}
}
