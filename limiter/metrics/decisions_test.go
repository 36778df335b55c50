package metrics_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/limiter/metrics"
)

// TestTheFastWayIsNotCounted, and what is left is right all the same.
func TestTheFastWayIsNotCounted(t *testing.T) {
	d := newDesk(t, metrics.Options{})
	b := d.Budget("b", limiter.Total{Limit: 10})
	if ok, err := b.TryAcquire(context.Background(), 4); !ok || err != nil {
		t.Fatal(ok, err)
	}
	d.shows("rate_limit", map[string]float64{`rate_limit_tokens{key="b"}`: 6})
}

// TestTheOpenReservationsEndAtZero, however many there were and whoever ended them.
func TestTheOpenReservationsEndAtZero(t *testing.T) {
	for name, inner := range map[string]func(*limiter.Memory) limiter.Limiter{
		"asked":   func(m *limiter.Memory) limiter.Limiter { return m },
		"counted": func(m *limiter.Memory) limiter.Limiter { return struct{ limiter.Limiter }{m} },
	} {
		t.Run(name, func(t *testing.T) {
			d := &desk{T: t, memory: limiter.NewMemory(), registry: prometheus.NewPedanticRegistry()}
			d.wrap(inner(d.memory), metrics.Options{})
			b, c := d.Budget("b", limiter.Total{Limit: 1 << 40}), d.Budget("c", limiter.AtOnce{Limit: 1000})
			ctx := context.Background()
			var callers sync.WaitGroup
			for caller := range 8 {
				callers.Go(func() {
					for i := range 200 {
						r := d.reserve(limiter.Charge{Budget: b, N: 10}, limiter.Charge{Budget: c, N: 1})
						var enders sync.WaitGroup
						for range 3 {
							enders.Go(func() {
								switch (caller + i) % 3 {
								case 0:
									r.Settle(ctx, []int64{4, 1})
								case 1:
									r.Cancel(ctx)
								default:
									r.Draw(ctx, []limiter.Charge{{Budget: b, N: 1}})
									r.Settle(ctx, []int64{12, 1})
								}
							})
						}
						if i == 100 {
							d.scrape()
						}
						enders.Wait()
					}
				})
			}
			held := d.reserve(limiter.Charge{Budget: c, N: 2})
			if open := d.scrape()["rate_limit_open_reservations"]; open < 1 {
				t.Errorf("%v open while one certainly is", open)
			}
			callers.Wait()
			if open := d.scrape()["rate_limit_open_reservations"]; open != 1 {
				t.Errorf("%v open, want the one that is held", open)
			}
			held.Cancel(ctx)
			got := d.scrape()
			if open := got["rate_limit_open_reservations"]; open != 0 {
				t.Errorf("%v open in the end", open)
			}
			for _, key := range []string{"b", "c"} {
				sum := func(name string) float64 { return got[`rate_limit_`+name+`_total{key="`+key+`"}`] }
				if key == "c" && sum("reserved")+sum("overrun")-sum("refunded") != sum("settled") {
					t.Errorf("%s: reserved %v + overrun %v - refunded %v is not settled %v", key, sum("reserved"), sum("overrun"), sum("refunded"), sum("settled"))
				}
			}
		})
	}
}

// far is a limiter elsewhere, whose decisions come from all over.
type far struct {
	*limiter.Memory
	source limiter.Source
}

func (f *far) Reserve(ctx context.Context, charges []limiter.Charge) (*limiter.Reservation, limiter.Decision, error) {
	r, d, err := f.Memory.Reserve(ctx, charges)
	d.Source = f.source
	return r, d, err
}

func TestWhoDecided(t *testing.T) {
	d := newDesk(t, metrics.Options{})
	d.registry = prometheus.NewPedanticRegistry()
	f := &far{Memory: d.memory}
	d.wrap(struct{ limiter.Limiter }{f}, metrics.Options{})
	b := d.Budget("b", limiter.Total{Limit: 100})
	for i, source := range []limiter.Source{limiter.Local, limiter.Store, limiter.Leased, limiter.Degraded, 200} {
		f.source = source
		for range i + 1 {
			d.reserve(limiter.Charge{Budget: b, N: 1}).Cancel(context.Background())
		}
	}
	d.shows("rate_limit_decisions_total", map[string]float64{
		`rate_limit_decisions_total{source="local"}`: 1, `rate_limit_decisions_total{source="store"}`: 2, `rate_limit_decisions_total{source="leased"}`: 3,
		`rate_limit_decisions_total{source="degraded"}`: 4, `rate_limit_decisions_total{source="other"}`: 5,
	})
}

func TestFamilies(t *testing.T) {
	d := newDesk(t, metrics.Options{})
	clients := d.memory.Family(limiter.FamilyOptions{Rule: limiter.Total{Limit: 10}, Most: 3})
	d.try(clients.Budget("one"), 1)
	d.try(clients.Budget("two"), 1)
	if err := d.Set().ShowFamily("clients", clients); err != nil {
		t.Fatal(err)
	}
	clients.Budget("never used")
	clients.Sweep()
	d.try(clients.Budget("three"), 1)
	clients.Budget("four")
	d.shows("rate_limit_shared_names_total", map[string]float64{`rate_limit_shared_names_total{family="clients"}`: 1})
	clients.Set("five", limiter.Total{Limit: 10}) // stays
	d.shows("rate_limit_names", map[string]float64{`rate_limit_names{family="clients"}`: 4})
	d.shows("rate_limit_evictions_total", map[string]float64{`rate_limit_evictions_total{family="clients"}`: 1})
	if err := d.Set().ShowFamily("clients", clients); err == nil {
		t.Error("two families of one name")
	}
}

// TestAHostOfItsOwn uses the set without the limiter, with labels and results of its own.
func TestAHostOfItsOwn(t *testing.T) {
	d := &desk{T: t, registry: prometheus.NewPedanticRegistry()}
	set, err := metrics.New(metrics.Options{Registry: d.registry, Labels: []string{"key", "budget"}, Most: 2})
	if err != nil {
		t.Fatal(err)
	}
	own, watched := set.Series("alice", "5 at once"), set.Watched("bob", "$5 each day, observe only")
	if set.Series("alice", "5 at once") != own {
		t.Error("the same labels have other series")
	}
	set.Levels(func(_ context.Context, show func(*metrics.Series, limiter.State)) {
		show(own, limiter.State{Limit: 5, Held: 2, Remaining: 3})
		show(watched, limiter.State{Limit: 5, Used: 9})
		show(set.Series("carol", "beyond the cap"), limiter.State{Limit: 5, Used: 9})
	})
	own.Count(metrics.Never)
	watched.Count(metrics.WatchedRefused)
	watched.Count(metrics.Failed) // unexpected, and counted
	set.Series("carol", "beyond the cap").Count(metrics.Refused)
	d.shows("rate_limit", map[string]float64{
		`rate_limit_acquire_total{budget="5 at once",key="alice",result="never"}`:                         1,
		`rate_limit_acquire_total{budget="$5 each day, observe only",key="bob",result="watched_refused"}`: 1,
		`rate_limit_acquire_total{budget="$5 each day, observe only",key="bob",result="error"}`:           1,
		`rate_limit_acquire_total{budget="other",key="other",result="refused"}`:                           1,
		`rate_limit_tokens{budget="5 at once",key="alice"}`:                                               3,
		`rate_limit_debt{budget="$5 each day, observe only",key="bob"}`:                                   4,
	})
	if _, there := d.scrape()[`rate_limit_acquire_total{budget="$5 each day, observe only",key="bob",result="refused"}`]; there {
		t.Error("a limit that only observes has a series for refusals")
	}
}

// TestTimes: 200 ns and 4 µs are told apart.
func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, metrics.Options{})
		for _, took := range []time.Duration{200, 4 * time.Microsecond, 30 * time.Millisecond} {
			d.Set().Decided(limiter.Local, took)
		}
		families, err := d.registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				last := uint64(0)
				var steps []float64
				for _, b := range m.GetHistogram().GetBucket() {
					if b.GetCumulativeCount() > last {
						steps = append(steps, b.GetUpperBound())
					}
					last = b.GetCumulativeCount()
				}
				if h := m.GetHistogram(); h != nil && (h.GetSampleCount() != 3 || !slices.Equal(steps, []float64{200e-9, 4e-6, 0.1})) {
					t.Errorf("%d samples in buckets up to %v", h.GetSampleCount(), steps)
				}
			}
		}
	})
}

func TestMistakes(t *testing.T) {
	registry := prometheus.NewRegistry()
	wrap := func(inner limiter.Limiter, o metrics.Options) error {
		_, err := metrics.Wrap(inner, o)
		return err
	}
	for what, err := range map[string]error{
		"no limiter":  wrap(nil, metrics.Options{Registry: registry}),
		"no registry": wrap(limiter.NewMemory(), metrics.Options{}),
		"two labels":  wrap(limiter.NewMemory(), metrics.Options{Registry: registry, Labels: []string{"a", "b"}}),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if err := wrap(limiter.NewMemory(), metrics.Options{Registry: registry}); err != nil {
		t.Fatal(err)
	}
	if err := wrap(limiter.NewMemory(), metrics.Options{Registry: registry}); err == nil {
		t.Error("registered twice")
	}
	set, err := metrics.New(metrics.Options{Registry: prometheus.NewRegistry(), Labels: []string{"key", "budget"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if p := fmt.Sprint(recover()); !strings.HasPrefix(p, "BUG: ") {
			t.Errorf("one value for two labels: %s", p)
		}
	}()
	set.Series("alice")
}
