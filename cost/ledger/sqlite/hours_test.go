package sqlite_test

import (
	"math/rand/v2"
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
// the exchanges up one by one. Within twenty days of these, clocks change in most zones.
func TestSumsOfAnyTimeAreThoseOfItsExchanges(t *testing.T) {
	for i, month := range []time.Month{time.March, time.October} {
		base := time.Date(2026, month, 20, 0, 0, 0, 0, time.UTC)
		s, all := writtenSince(t, base, i == 0)
		rapid.Check(t, func(r *rapid.T) {
			hour := func(name string) time.Time {
				return base.Add(time.Duration(rapid.IntRange(0, daysWritten*24).Draw(r, name)) * time.Hour)
			}
			q := ledger.HourQuery{
				From: hour("from"), To: hour("to"), Hour: rapid.Bool().Draw(r, "by hour"), Series: rapid.Bool().Draw(r, "by series"),
				Model: rapid.Bool().Draw(r, "by model"), Label: rapid.Bool().Draw(r, "by label"),
			}
			if rapid.Bool().Draw(r, "by day") {
				var err error
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
		})
	}
}

// daysWritten is how many days a ledger of writtenSince is of.
const daysWritten = 20

// writtenSince makes a ledger, and reads it. The last of its exchanges are not in its sums, unless rolled says so.
func writtenSince(t *testing.T, base time.Time, rolled bool) (ledger.Snapshot, []ledger.Exchange) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "usage.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	past, err := store.Resume(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(uint64(base.Unix()), 1))
	var all []ledger.Exchange
	for batch := range int64(3) {
		b := &ledger.Batch{Slot: past.Slot, Number: past.Batch + batch + 1}
		list := make([]ledger.Exchange, 150)
		for i := range list {
			n := int64(len(all) + i)
			list[i] = someExchange(random, base.Add(time.Duration(random.IntN(daysWritten*24*3600))*time.Second), n)
			b.Begins, b.Ends = append(b.Begins, &list[i].Begin), append(b.Ends, list[i].End)
		}
		if batch < 2 || rolled {
			b.Rolled = ledger.RollOf(list, nil)
		}
		if err := store.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		all = append(all, list...)
	}
	s, err := store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, all
}

// recorded is when the first end row of a test was: after all calls, and so are the others, in their order.
var recorded = ledger.At(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))

// someExchange makes the nth one, with figures of every kind.
func someExchange(random *rand.Rand, at time.Time, n int64) ledger.Exchange {
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	figure := func() int64 { return random.Int64N(1000) }
	id := ledger.At(at) + ledger.ID(n*ledger.Slots)
	return ledger.Exchange{
		Begin: ledger.Begin{
			Exchange: id, Series: ledger.Series{Key: pick("alice", "bob"), Groups: "all", Endpoint: "chat/completions", Upstream: pick("a", "b")},
			Model: pick("m", "n"), Label: pick("", "x"), Retry: random.IntN(2),
		},
		End: &ledger.End{
			Exchange: id, Seq: recorded + ledger.ID(n*ledger.Slots),
			Served: pick("", "m-1"), Basis: pick(ledger.Nothing, ledger.Reported, ledger.Counted, ledger.Unreported),
			Usage: cost.Usage{
				Input: figure(), CachedInput: figure(), CacheWrite: figure(), Output: figure(), Reasoning: figure(), Images: figure(), Milliseconds: figure(), Characters: figure(),
			},
			Cost: cost.NanoUSD(figure()),
		},
	}
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
