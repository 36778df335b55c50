package notify_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy"
	"github.com/tokenfare/tokenfare/proxy/notify"
)

// TestNobodyIsToldTwice lives through months of three keys, with thresholds, receivers and processes that come and go: what is
// kept is every threshold that was reached while somebody could be told, once.
func TestNobodyIsToldTwice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		at := slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(rapid.Int64Range(1, 100), 1, 4).Draw(rt, "at"))))
		steps := rapid.IntRange(1, 20).Draw(rt, "steps")
		inBubble(t, func(t *testing.T) {
			var kept []ledger.Notice
			want := map[ledger.Notice]bool{}
			names := []string{"alice", "bob", "carol"}
			used, m := map[string]int64{}, time.February
			up := true
			var r *room
			start := func() {
				if r != nil {
					r.stop()
					synctest.Wait()
				}
				r = newRoom(t, kept...)
				r.notifier.Set(notify.Settings{URL: webhook, At: at})
			}
			start()
			for range steps {
				switch rapid.IntRange(0, 9).Draw(rt, "what") {
				case 0:
					m++
					used = map[string]int64{}
				case 1:
					start()
				case 2:
					up = !up
				default:
					used[rapid.SampledFrom(names).Draw(rt, "who")] += rapid.Int64Range(0, 60).Draw(rt, "more")
				}
				r.answers(func(*http.Request) (*http.Response, error) {
					if !up {
						return reply(503), nil
					}
					return reply(200), nil
				})
				var all []proxy.Quota
				for _, name := range names {
					all = append(all, month(name, used[name], firstOf(m)))
				}
				r.uses(all...)
				time.Sleep(10 * time.Minute) // longer than any wait between two tries
				synctest.Wait()
				for _, n := range r.kept {
					if slices.Contains(kept, n) {
						rt.Fatalf("%+v twice", n)
					}
					kept = append(kept, n)
				}
				r.kept = nil
				for _, q := range all {
					for _, a := range at {
						if up && q.Percent >= a {
							want[ledger.Notice{Budget: q.Name, Period: q.Ends.Unix(), At: fmt.Sprintf("%d%%", a)}] = true
						}
					}
				}
				if len(kept) != len(want) {
					rt.Fatalf("%d notices, want %d: %v", len(kept), len(want), kept)
				}
				for _, n := range kept {
					if !want[n] {
						rt.Fatalf("%+v was kept, and not reached", n)
					}
				}
			}
			r.stop()
			synctest.Wait()
		})
	})
}

// inBubble hands on a panic, by which rapid learns of a failure and which must not end the goroutine of a bubble.
func inBubble(t *testing.T, f func(*testing.T)) {
	var failure any
	synctest.Test(t, func(t *testing.T) {
		defer func() { failure = recover() }()
		f(t)
	})
	if failure != nil {
		panic(failure)
	}
}
