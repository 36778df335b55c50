package metrics_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/limiter/metrics"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// desk is a limiter with metrics, in verbs that fail the test.
type desk struct {
	*testing.T
	*metrics.Limiter
	memory   *limiter.Memory
	registry *prometheus.Registry
}

func newDesk(t *testing.T, o metrics.Options) *desk {
	t.Helper()
	d := &desk{T: t, memory: limiter.NewMemory(), registry: prometheus.NewPedanticRegistry()}
	d.wrap(d.memory, o)
	return d
}

func (d *desk) wrap(inner limiter.Limiter, o metrics.Options) {
	d.Helper()
	o.Registry = d.registry
	l, err := metrics.Wrap(inner, o)
	if err != nil {
		d.Fatal(err)
	}
	d.Limiter = l
}

func (d *desk) try(b *limiter.Budget, n int64) bool {
	d.Helper()
	got, err := limiter.TryAcquire(context.Background(), d.Limiter, []limiter.Charge{{Budget: b, N: n}})
	if err != nil {
		d.Fatal(err)
	}
	return got.OK
}

func (d *desk) reserve(charges ...limiter.Charge) *limiter.Reservation {
	d.Helper()
	r, _, err := d.Reserve(context.Background(), charges)
	if err != nil {
		d.Fatal(err)
	}
	return r
}

// scrape returns all counters and gauges as a server would store them: rate_limit_tokens{key="alice"} to value.
func (d *desk) scrape() map[string]float64 {
	d.Helper()
	families, err := d.registry.Gather()
	if err != nil {
		d.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for i, l := range m.GetLabel() {
				open := ","
				if i == 0 {
					open = "{"
				}
				name += fmt.Sprintf("%s%s=%q", open, l.GetName(), l.GetValue())
			}
			if len(m.GetLabel()) > 0 {
				name += "}"
			}
			all[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return all
}

// shows wants the named metrics so, and all others of the same prefixes absent or 0.
func (d *desk) shows(prefix string, want map[string]float64) {
	d.Helper()
	got := map[string]float64{}
	for name, value := range d.scrape() {
		if strings.HasPrefix(name, prefix) && value != 0 {
			got[name] = value
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		d.Errorf("%s (-want +got):\n%s", prefix, diff)
	}
}

// TestNames: names, types, labels and buckets are a promise to dashboards.
func TestNames(t *testing.T) {
	d := newDesk(t, metrics.Options{})
	d.try(d.Budget("alice", limiter.Total{Limit: 10}), 3)
	if err := d.Set().ShowFamily("clients", d.memory.Family(limiter.FamilyOptions{Rule: limiter.Total{Limit: 10}})); err != nil {
		t.Fatal(err)
	}
	families, err := d.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, f := range families {
		fmt.Fprintf(&out, "%s %s\n", f.GetName(), strings.ToLower(f.GetType().String()))
		for _, m := range f.GetMetric() {
			labels := make([]string, 0, len(m.GetLabel()))
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			fmt.Fprintf(&out, "  {%s}", strings.Join(labels, " "))
			for _, b := range m.GetHistogram().GetBucket() {
				fmt.Fprintf(&out, " %g", b.GetUpperBound())
			}
			out.WriteString("\n")
		}
	}
	const file = "testdata/names.golden"
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("%s differs (-want +got); go test -update rewrites it:\n%s", file, diff)
	}
	for _, f := range families {
		if f.GetHelp() == "" {
			t.Errorf("%s has no help", f.GetName())
		}
	}
}

func TestDecisionsAreCountedOnTheBudgetsTheyAreAbout(t *testing.T) {
	d := newDesk(t, metrics.Options{})
	few, many := d.Budget("few", limiter.Total{Limit: 10}), d.Budget("many", limiter.Total{Limit: 1000})
	both := func(n int64) []limiter.Charge { return []limiter.Charge{{Budget: many, N: n}, {Budget: few, N: n}} }
	ctx := context.Background()
	r := d.reserve(both(6)...)
	d.reserve(both(6)...)  // refused by few
	d.reserve(both(11)...) // never
	d.Peek(ctx, both(1))   // no decision
	if _, err := r.Draw(ctx, both(4)); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Draw(ctx, both(1)); err != nil || got.OK {
		t.Fatal(got, err)
	}
	if _, _, err := d.Reserve(ctx, []limiter.Charge{{Budget: few, N: -1}, {Budget: nil}}); err == nil {
		t.Fatal("no error")
	}
	d.shows("rate_limit_acquire_total", map[string]float64{
		`rate_limit_acquire_total{key="few",result="allowed"}`:  2,
		`rate_limit_acquire_total{key="many",result="allowed"}`: 2,
		`rate_limit_acquire_total{key="few",result="refused"}`:  2,
		`rate_limit_acquire_total{key="few",result="never"}`:    1,
		`rate_limit_acquire_total{key="few",result="error"}`:    1,
	})
	d.shows("rate_limit_decisions_total", map[string]float64{`rate_limit_decisions_total{source="local"}`: 5})
}

func TestAmounts(t *testing.T) {
	d := newDesk(t, metrics.Options{})
	ctx := context.Background()
	b := d.Budget("b", limiter.TokenBucket{Size: 100, Refill: 1, Every: time.Hour})
	check := func(when string, left, debt, open float64, amounts ...float64) {
		t.Helper()
		got := d.scrape()
		for i, name := range []string{"reserved", "settled", "overrun", "refunded"} {
			if v := got[fmt.Sprintf(`rate_limit_%s_total{key="b"}`, name)]; v != amounts[i] {
				t.Errorf("%s: %s %v, want %v", when, name, v, amounts[i])
			}
		}
		if l, w, o := got[`rate_limit_tokens{key="b"}`], got[`rate_limit_debt{key="b"}`], got["rate_limit_open_reservations"]; l != left || w != debt || o != open {
			t.Errorf("%s: left %v, debt %v, open %v; want %v, %v, %v", when, l, w, o, left, debt, open)
		}
	}
	check("at first", 100, 0, 0, 0, 0, 0, 0)
	r := d.reserve(limiter.Charge{Budget: b, N: 30})
	check("reserved", 70, 0, 1, 30, 0, 0, 0)
	if got, err := r.Draw(ctx, []limiter.Charge{{Budget: b, N: 10}}); err != nil || !got.OK {
		t.Fatal(got, err)
	}
	check("drawn", 60, 0, 1, 40, 0, 0, 0)
	if err := r.Settle(ctx, []int64{1, 2}); err == nil {
		t.Fatal("two amounts for one charge")
	}
	r.Settle(ctx, []int64{25})
	check("settled", 75, 0, 0, 40, 25, 0, 15)
	r.Settle(ctx, []int64{40})
	r.Cancel(ctx)
	check("settled again", 75, 0, 0, 40, 25, 0, 15)
	d.reserve(limiter.Charge{Budget: b, N: 20}).Cancel(ctx)
	check("cancelled", 75, 0, 0, 60, 25, 0, 35)
	d.reserve(limiter.Charge{Budget: b, N: 5}).Settle(ctx, []int64{95})
	check("overrun", 0, 20, 0, 65, 120, 90, 35)
	d.Inc(ctx, []limiter.Charge{{Budget: b, N: 7}})
	check("inc", 0, 27, 0, 65, 127, 90, 35)
	d.try(d.Budget("c", limiter.Total{Limit: 9}), 4)
	check("another", 0, 27, 0, 65, 127, 90, 35)
	if v := d.scrape()[`rate_limit_settled_total{key="c"}`]; v != 4 {
		t.Errorf("taken for good: settled %v, want 4", v)
	}
}

// TestNobodyFillsAServerWithSeries: names of nobody in particular share series, and so do those beyond the cap.
func TestNobodyFillsAServerWithSeries(t *testing.T) {
	secret := "tf-" + strings.Repeat("s3cr3t", 3)
	for name, c := range map[string]struct {
		options metrics.Options
		keys    []string // that may be shown
	}{
		"by name":        {metrics.Options{}, []string{"configured 0", "configured 1", "configured 2", "other"}},
		"capped":         {metrics.Options{Most: 2}, []string{"configured 0", "configured 1", "other"}},
		"by a function":  {metrics.Options{Key: func(string) string { return "all" }}, []string{"all"}},
		"of nobody":      {metrics.Options{Key: func(string) string { return "" }}, []string{"other"}},
		"of too many":    {metrics.Options{Most: 4, Key: func(n string) string { return "id-" + n[len(n)-1:] }}, []string{"id-0", "id-1", "id-2", "id-3", "other"}},
		"other is taken": {metrics.Options{Key: func(string) string { return metrics.Other }}, []string{"other"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, c.options)
			for i := range 3 {
				d.try(d.Budget(fmt.Sprintf("configured %d", i), limiter.Total{Limit: 10}), 1)
			}
			clients := d.memory.Family(limiter.FamilyOptions{Rule: limiter.Total{Limit: 10}})
			for i := range 1000 {
				d.try(clients.Budget(fmt.Sprintf("%s client %d", secret, i)), 1)
				d.reserve(limiter.Charge{Budget: clients.Budget(fmt.Sprintf("%s client %d", secret, i%10)), N: 1}).Cancel(context.Background())
			}
			got := map[string]bool{}
			for series := range d.scrape() {
				if strings.Contains(series, secret) {
					t.Errorf("a name is shown: %s", series)
				}
				if _, labels, found := strings.Cut(series, `key="`); found {
					key, _, _ := strings.Cut(labels, `"`)
					got[key] = true
				}
			}
			if diff := cmp.Diff(c.keys, slices.Sorted(maps.Keys(got))); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
			sum := 0.0
			for series, v := range d.scrape() {
				if strings.HasPrefix(series, "rate_limit_acquire_total") && strings.Contains(series, `result="allowed"`) {
					sum += v
				}
			}
			if sum != 2003 {
				t.Errorf("%v decisions were counted, want 2003", sum)
			}
		})
	}
}

func TestLabelsAreFitForAServer(t *testing.T) {
	d := newDesk(t, metrics.Options{})
	for _, name := range []string{"", "\xff", "\xfe", "a\nb", `"\`, strings.Repeat("ü", 1000), strings.Repeat("ü", 1000) + "!", strings.Repeat("\xffa", 100)} {
		d.try(d.Budget(name, limiter.Total{Limit: 10}), 1)
	}
	for series := range d.scrape() {
		if len(series) > 600 {
			t.Errorf("%d bytes: %s", len(series), series)
		}
	}
}

// TestBudgetsOfOneKey: the one with the least left is shown.
func TestBudgetsOfOneKey(t *testing.T) {
	d := newDesk(t, metrics.Options{Key: func(n string) string { owner, _, _ := strings.Cut(n, ":"); return owner }})
	d.Budget("alice:tokens", limiter.Total{Limit: 500})
	d.Budget("alice:requests", limiter.Total{Limit: 3})
	d.Budget("alice:dollars", limiter.Total{Limit: 50})
	d.shows("rate_limit_tokens", map[string]float64{`rate_limit_tokens{key="alice"}`: 3})
}

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
