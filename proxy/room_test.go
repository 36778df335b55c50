package proxy

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// TestRoomIsBounded: whatever is asked for and given back, in any order, no more is booked than there is, nobody who fits waits, and in the
// end nothing is left.
func TestRoomIsBounded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			r := room{most: 100, ofOne: 60}
			callers := [3]share{}
			type booking struct {
				of *share
				n  int64
			}
			var booked []booking
			got := make(chan booking, 100)
			asked, refused := 0, make(chan int, 100)
			collect := func() {
				synctest.Wait()
				for len(got) > 0 {
					booked = append(booked, <-got)
				}
				var all int64
				of := map[*share]int64{}
				for _, b := range booked {
					all, of[b.of] = all+b.n, of[b.of]+b.n
				}
				if r.size() != all || all > r.most {
					rt.Fatalf("%d are booked, %d are held, of %d", all, r.size(), r.most)
				}
				r.mu.Lock()
				defer r.mu.Unlock()
				for i := range callers {
					if s := &callers[i]; s.held != of[s] || s.held > r.ofOne {
						rt.Fatalf("caller %d has %d, holds %d, of %d", i, of[s], s.held, r.ofOne)
					}
				}
				for _, p := range r.waiting {
					if r.fitsLocked(p.of, p.n) {
						rt.Fatalf("somebody waits for %d, and there is room", p.n)
					}
				}
			}
			for range rapid.IntRange(1, 40).Draw(rt, "steps") {
				switch rapid.IntRange(0, 3).Draw(rt, "what") {
				case 0, 1:
					want := booking{&callers[rapid.IntRange(0, 2).Draw(rt, "caller")], rapid.Int64Range(1, 61).Draw(rt, "bytes")}
					asked++
					go func() {
						switch waited, ok := r.take(t.Context(), want.of, want.n, time.Second); {
						case ok:
							got <- want
						case want.n <= 60 && waited != time.Second, want.n > 60 && waited != 0:
							refused <- -1
						default:
							refused <- 1
						}
					}()
				case 2:
					if len(booked) > 0 {
						i := rapid.IntRange(0, len(booked)-1).Draw(rt, "which")
						r.free(booked[i].of, booked[i].n)
						booked = append(booked[:i], booked[i+1:]...)
					}
				case 3:
					time.Sleep(300 * time.Millisecond)
				}
				collect()
			}
			time.Sleep(time.Second)
			collect()
			if n := len(r.waiting); n != 0 {
				rt.Fatalf("%d wait for ever", n)
			}
			for len(refused) > 0 {
				if <-refused < 0 {
					rt.Fatal("somebody was refused too early, or too late")
				}
			}
		})
	})
}

// TestWhoCameFirstHasRoomFirst, but those who need less than is free do not wait for those who need more.
func TestWhoCameFirstHasRoomFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := room{most: 10, ofOne: 10}
		var one, other share
		if _, ok := r.take(t.Context(), &one, 8, 0); !ok {
			t.Fatal("there is no room in an empty one")
		}
		var mu sync.Mutex
		var order []int64 // guarded by mu
		for _, n := range []int64{5, 4, 3} {
			go func() {
				if _, ok := r.take(t.Context(), &other, n, time.Minute); ok {
					mu.Lock()
					defer mu.Unlock()
					order = append(order, n)
				}
			}()
			synctest.Wait()
		}
		if waited, ok := r.take(t.Context(), &one, 2, time.Minute); !ok || waited != 0 {
			t.Errorf("what fits waited for %s", waited)
		}
		r.free(&one, 10)
		synctest.Wait()
		if len(order) != 2 || order[0]+order[1] != 9 {
			t.Errorf("ten were given to those who wait for %v, want 5 and 4", order)
		}
		ctx, leave := context.WithCancel(t.Context())
		leave()
		if _, ok := r.take(ctx, &one, 2, time.Minute); ok {
			t.Error("there was room for one more than there is")
		}
		r.free(&other, 9)
		synctest.Wait()
		if len(order) != 3 || r.size() != 3 {
			t.Errorf("%v, and %d are booked", order, r.size())
		}
	})
}
