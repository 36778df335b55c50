package ledgertest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// A snapshot is of the instant it was taken at: it sees nothing of what is committed, rolled up or pruned later.
func snapshots(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	defer c.leave()
	reader := reading(t, l)
	var views []view
	var want []everything
	for range 4 {
		v := look(t, reader)
		views, want = append(views, v, look(t, c.store)), append(want, everything{}, everything{})
		if len(views)%4 == 2 {
			want[len(want)-1], want[len(want)-2] = views[len(views)-1].everything(), v.everything() // some have read before, some have not
		}
		fillBatch(c, time.Now())
		c.commit()
	}
	if n := c.prune(time.Now().Add(time.Hour), 3); n != 3 {
		t.Errorf("%d dropped, want 3", n)
	}
	for i, v := range views {
		got := v.everything()
		if len(got.Ended) != i/2 || len(got.Notices) != min(1, i/2) || total(got).Requests != int64(i/2) {
			t.Errorf("snapshot %d: %d ended, %d notices, sums %+v; %d were there when it was taken", i, len(got.Ended), len(got.Notices), total(got), i/2)
		}
		if want[i].Hours != nil {
			same(t, "what a snapshot says later", got, want[i])
		}
		v.close()
	}
	if got := glance(t, reader, view.everything); len(got.Ended) != 1 || total(got).Requests != 4 {
		t.Errorf("a new snapshot: %d ended, sums %+v; want 1, and sums of 4", len(got.Ended), total(got))
	}
}

// Snapshots can be closed whatever has become of them.
func closedSnapshots(t *testing.T, _ Harness, l Ledger) {
	c := hire(t, l)
	defer c.leave()
	v := look(t, c.store)
	v.close()
	v.close()
	ctx, cancel := context.WithCancel(t.Context())
	s, err := c.store.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := s.Unfinished(ctx); err == nil {
		t.Error("a snapshot can be read though its context has ended")
	}
	if err := s.Close(); err != nil {
		t.Errorf("close a snapshot whose context has ended: %v", err)
	}
	if _, err := c.store.Snapshot(ctx); err == nil {
		t.Error("a snapshot can be taken though the context has ended")
	}
	stop := errors.New("enough")
	fillBatch(c, time.Now())
	c.commit()
	v = look(t, c.store)
	defer v.close()
	for range 3 {
		if err := v.s.Began(t.Context(), ever.from, ever.to, func(*ledger.Exchange) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("began: %v, want the error that stopped it", err)
		}
	}
	same(t, "began", len(v.began(ever.from, ever.to)), 2)
}

// Readers come in the way of nobody, and each sees whole batches only.
func manyReaders(t *testing.T, _ Harness, l Ledger) {
	const readers, batches, size = 10, 40, 20
	c := hire(t, l)
	defer c.leave()
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i := range readers {
		store := c.store
		if i%2 == 1 {
			store = reading(t, l)
		}
		wg.Go(func() {
			for seen, last := 0, false; ; {
				select {
				case <-done:
					last = true
				default:
				}
				s, err := store.Snapshot(context.WithoutCancel(t.Context()))
				if err != nil {
					t.Errorf("snapshot: %v", err)
					return
				}
				v := view{t, s}
				ended, requests, spent := len(v.ended(ever.from, ever.to)), total(everything{Hours: v.hours(apart)}).Requests, v.spent(ledger.Want{Budget: "budget"})[0]
				v.close()
				if ended%size != 0 || ended < seen || int(requests) != ended || spent != 7*int64(ended) {
					t.Errorf("a reader that has seen %d exchanges sees %d, sums of %d, and %d spent", seen, ended, requests, spent)
				}
				if seen = ended; last {
					if seen != batches*size {
						t.Errorf("a reader sees %d exchanges in the end, want %d", seen, batches*size)
					}
					return
				}
			}
		})
	}
	for i := range batches {
		for range size {
			b := c.begin(call("key", "budget", 7), time.Now())
			c.end(answer(b, 7, 0), time.Now())
		}
		if i%3 == 0 {
			c.roll()
		}
		c.commit()
	}
	close(done)
	wg.Wait()
}
