package proxy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// heldStore keeps rows in memory, as long as a test lets it: it can be slow, and it can fail.
type heldStore struct {
	mu      sync.Mutex // guards all below
	slow    time.Duration
	failing error
	tries   int
	batch   int64
	begins  []*ledger.Begin
	durable map[ledger.ID]time.Time // when begin rows were
	draws   []*ledger.Draw
	ends    []*ledger.End
	owned   []*ledger.Owned
	refused map[ledger.Refusal]int64 // by all but their number
	prices  map[string]string
	rolled  int64 // exchanges in the sums
}

func (s *heldStore) Resume(context.Context) (*ledger.Past, error) { return &ledger.Past{}, nil }

func (s *heldStore) Prune(context.Context, time.Time, int) (int, error) { return 0, nil }

func (s *heldStore) Snapshot(context.Context) (ledger.Snapshot, error) {
	return nil, errors.New("nobody reads this")
}

func (s *heldStore) Close() error { return nil }

// Commit takes a batch when it has waited long enough.
func (s *heldStore) Commit(ctx context.Context, b *ledger.Batch) error {
	s.mu.Lock()
	slow := s.slow
	s.tries++
	s.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.failing != nil:
		return s.failing
	case b.Number != s.batch+1:
		return fmt.Errorf("batch %d follows batch %d", b.Number, s.batch)
	}
	s.batch = b.Number
	for _, begin := range b.Begins {
		s.durable[begin.Exchange] = time.Now()
	}
	s.begins = append(s.begins, b.Begins...)
	s.draws = append(s.draws, b.Draws...)
	s.ends = append(s.ends, b.Ends...)
	s.owned = append(s.owned, b.Owned...)
	for _, r := range b.Refusals {
		n := r.N
		r.N = 0
		s.refused[r] += n
	}
	for _, p := range b.Prices {
		s.prices[p.Version] = p.Card
	}
	if b.Rolled != nil {
		for _, sums := range b.Rolled.Hours {
			s.rolled += sums.Requests
		}
	}
	return nil
}

// ownedRows are the rows that say whose objects are.
func (s *heldStore) ownedRows() []*ledger.Owned {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.owned)
}

// be makes the store behave otherwise from now on.
func (s *heldStore) be(slow time.Duration, failing error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slow, s.failing = slow, failing
}

// attempts is how many commits were tried.
func (s *heldStore) attempts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tries
}

// rows are the exchanges in the ledger. No exchange has two begin rows or two end rows, and none an end row alone.
func (s *heldStore) rows(t testing.TB) []ledger.Exchange {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []ledger.Exchange
	at := map[ledger.ID]int{}
	for _, b := range s.begins {
		if _, twice := at[b.Exchange]; twice {
			t.Errorf("exchange %v has begun twice", b.Exchange)
		}
		at[b.Exchange] = len(list)
		list = append(list, ledger.Exchange{Begin: *b})
	}
	for _, d := range s.draws {
		i, known := at[d.Exchange]
		if !known || d.Step != len(list[i].Draws)+1 {
			t.Fatalf("exchange %v drew out of turn: %+v", d.Exchange, d)
		}
		list[i].Draws = append(list[i].Draws, *d)
	}
	for _, e := range s.ends {
		switch i, known := at[e.Exchange]; {
		case !known:
			t.Errorf("exchange %v has ended and never begun", e.Exchange)
		case list[i].End != nil:
			t.Errorf("exchange %v has ended twice", e.Exchange)
		default:
			list[i].End = e
		}
	}
	return list
}

// only is the one exchange in the ledger, which has ended.
func (s *heldStore) only(t testing.TB) ledger.Exchange {
	t.Helper()
	rows := s.rows(t)
	if len(rows) != 1 || rows[0].End == nil {
		t.Fatalf("the ledger has %d exchanges, want one that has ended: %+v", len(rows), rows)
	}
	return rows[0]
}

// charged is what an exchange takes from budgets, by their names, from its begin row or its end row.
func charged(list []ledger.Charge) map[string]int64 {
	sums := map[string]int64{}
	for _, c := range list {
		sums[c.Budget.Name] += c.N + c.Late
	}
	return sums
}

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// lines are the log's lines that have a text in them.
func (l *lockedBuffer) lines(text string) []string {
	var found []string
	for line := range bytes.Lines([]byte(l.String())) {
		if bytes.Contains(line, []byte(text)) {
			found = append(found, string(line))
		}
	}
	return slices.Clip(found)
}
