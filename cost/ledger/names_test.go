package ledger_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// Names that callers make up do not fill the sums, which are kept for ever: beyond 500 in an hour a key's are one. The rows have
// them all.
func TestTooManyNamesAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		w, stop := run(t, m, ledger.Options{})
		for hour := range 3 {
			for i := range 2000 {
				b := begun(w, "key", 3)
				b.Model, b.Label = fmt.Sprint("model", i%700), fmt.Sprint("label", hour, i)
				w.Begin(b)
				e := ended(b, 2)
				e.Served = fmt.Sprint("served", i%3)
				w.End(e)
				c := corrected(b, 1)
				c.Label, c.Served = b.Label, e.Served
				w.Correct([]*ledger.Correction{c})
				w.Refused("key", fmt.Sprint("model", i), "code")
				if i%100 == 0 {
					time.Sleep(2 * time.Second) // several rolls
				}
			}
			quiet := begun(w, "another", 3)
			quiet.Label = "label"
			w.Begin(quiet)
			w.End(ended(quiet, 2))
			time.Sleep(time.Hour)
		}
		stopped(t, stop)
		m.look(func() {
			labels, models, refused := map[int64]map[string]bool{}, map[int64]map[string]bool{}, map[int64]int{}
			var sums ledger.Sums
			others := 0
			for h, s := range m.hours {
				sums.Add(s)
				if h.Series.Key == "another" {
					if h.Label != "label" || h.Model != "model" {
						t.Errorf("a key with one name is summed up under %+v", h)
					}
					continue
				}
				if labels[h.Start] == nil {
					labels[h.Start], models[h.Start] = map[string]bool{}, map[string]bool{}
				}
				labels[h.Start][h.Label], models[h.Start][h.Model], models[h.Start][h.Served] = true, true, true
				if h.Label == "(other)" {
					others++
				}
			}
			n := int64(0)
			for r, of := range m.refused {
				n += of
				refused[r.Hour]++
			}
			for hour := range labels {
				if a, b, c := len(labels[hour]), len(models[hour]), refused[hour]; a > 501 || b > 501 || c > 501 {
					t.Errorf("in one hour there are %d labels, %d models, and refusals of %d models", a, b, c)
				}
			}
			if sums.Requests != 6003 || sums.Counted != 6000 || n != 6000 || others == 0 {
				t.Errorf("sums %+v, %d refusals, %d under one name; want 6003 requests, 6000 of them corrected, and 6000 refusals", sums, n, others)
			}
			if len(m.rows) != 6003 {
				t.Errorf("%d exchanges", len(m.rows))
			}
		})
	})
}
