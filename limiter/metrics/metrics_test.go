package metrics_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
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
