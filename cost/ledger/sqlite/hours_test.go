package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
)

// zones are those with something the matter: clocks that go forth at midnight, days that never were, halves and quarters of
// hours.
var zones = []string{
	"UTC", "Europe/Berlin", "America/New_York", "America/Los_Angeles", "Asia/Kolkata", "Asia/Kathmandu", "Pacific/Auckland",
	"America/Santiago", "Pacific/Apia", "Australia/Lord_Howe", "Pacific/Kiritimati",
}

// TestSumsOfAnyTimeAreThoseOfItsExchanges asks for sums of every kind, whose store takes them from several tables, and adds
// the exchanges up one by one.
func TestSumsOfAnyTimeAreThoseOfItsExchanges(t *testing.T) {
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), fmt.Sprintf("%d.db", n)))
		if err != nil {
			r.Fatal(err)
		}
		defer store.Close()
		past, err := store.Resume(t.Context())
		if err != nil {
			r.Fatal(err)
		}
		base := time.Date(2026, rapid.SampledFrom([]time.Month{3, 4, 9, 10, 11}).Draw(r, "month"), 1, 0, 0, 0, 0, time.UTC)
		hour := func(name string) time.Time {
			return base.Add(time.Duration(rapid.IntRange(0, 12*24).Draw(r, name)) * time.Hour)
		}
		var all []ledger.Exchange
		seq := ledger.At(base.AddDate(1, 0, 0))
		for batch := range int64(3) {
			b := &ledger.Batch{Slot: past.Slot, Number: past.Batch + batch + 1}
			var list []ledger.Exchange
			for range rapid.IntRange(0, 25).Draw(r, "exchanges") {
				seq += ledger.Slots
				list = append(list, drawExchange(r, hour("hour"), seq))
			}
			for i := range list {
				b.Begins, b.Ends = append(b.Begins, &list[i].Begin), append(b.Ends, list[i].End)
			}
			if batch < 2 || rapid.Bool().Draw(r, "rolled") {
				b.Rolled = ledger.RollOf(list, nil)
			}
			if err := store.Commit(t.Context(), b); err != nil {
				r.Fatal(err)
			}
			all = append(all, list...)
		}
		s, err := store.Snapshot(t.Context())
		if err != nil {
			r.Fatal(err)
		}
		defer s.Close()
		for range 8 {
			q := ledger.HourQuery{
				From: hour("from"), To: hour("to"), Hour: rapid.Bool().Draw(r, "by hour"), Series: rapid.Bool().Draw(r, "by series"),
				Model: rapid.Bool().Draw(r, "by model"), Label: rapid.Bool().Draw(r, "by label"),
			}
			if rapid.Bool().Draw(r, "by day") {
				if q.Day, err = time.LoadLocation(rapid.SampledFrom(zones).Draw(r, "zone")); err != nil {
					r.Fatal(err)
				}
			}
			want, got := map[ledger.Hour]ledger.Sums{}, map[ledger.Hour]ledger.Sums{}
			add := func(to map[ledger.Hour]ledger.Sums, h ledger.Hour, s ledger.Sums) {
				s.Add(to[h])
				to[h] = s
			}
			for i := range all {
				b, e := &all[i].Begin, all[i].End
				if at := b.Exchange.Time(); !at.Before(q.From) && at.Before(q.To) {
					add(want, q.Only(ledger.Hour{Start: ledger.HourOf(at), Series: b.Series, Model: b.Model, Served: e.Served, Label: b.Label}), ledger.SumsOf(b, e))
				}
			}
			err := s.Hours(t.Context(), q, func(h ledger.Hour, s ledger.Sums) error {
				add(got, h, s)
				return nil
			})
			if err != nil {
				r.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				r.Fatalf("%+v (-want +got):\n%s", q, diff)
			}
		}
	})
}

// drawExchange makes one that began in an hour.
func drawExchange(r *rapid.T, hour time.Time, seq ledger.ID) ledger.Exchange {
	pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(r, name) }
	figure := func(name string) int64 { return rapid.Int64Range(0, 1000).Draw(r, name) }
	// The number of its end keeps it apart from others of the same instant.
	x := ledger.Exchange{Begin: ledger.Begin{
		Exchange: ledger.At(hour.Add(time.Duration(rapid.Int64Range(0, 3_590).Draw(r, "second"))*time.Second)) + seq%(1<<20)/ledger.Slots*ledger.Slots,
		Series:   ledger.Series{Key: pick("key", "alice", "bob"), Groups: "all", Endpoint: "chat/completions", Upstream: pick("upstream", "a", "b")},
		Model:    pick("model", "m", "n"), Label: pick("label", "", "x"), Retry: rapid.IntRange(0, 1).Draw(r, "retry"),
	}}
	x.End = &ledger.End{
		Exchange: x.Begin.Exchange, Seq: seq, Served: pick("served", "", "m-1"), Basis: pick("basis", ledger.Nothing, ledger.Reported, ledger.Counted, ledger.Unreported),
		Usage: cost.Usage{
			Input: figure("input"), CachedInput: figure("cached"), CacheWrite: figure("written"), Output: figure("output"), Reasoning: figure("reasoning"),
			Images: figure("images"), Milliseconds: figure("ms"), Characters: figure("characters"),
		},
		Cost: cost.NanoUSD(figure("cost")),
	}
	return x
}

func TestADayIsTheHoursThatBeginInIt(t *testing.T) {
	for _, name := range zones {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		date := func(hour int64) string { return time.Unix(hour, 0).In(zone).Format(time.DateOnly) }
		from := time.Date(2011, 12, 20, 0, 0, 0, 0, time.UTC).Unix()
		for hour := from; hour < from+400*24*3600; hour += 3600 {
			first, next := ledger.DayOf(hour, zone)
			if first > hour || next <= hour || date(first) != date(hour) || date(next-3600) != date(hour) || date(first-3600) == date(hour) || date(next) == date(hour) {
				t.Fatalf("%s: the day of %s is %s to %s", name, time.Unix(hour, 0).In(zone), time.Unix(first, 0).In(zone), time.Unix(next, 0).In(zone))
			}
		}
	}
}
