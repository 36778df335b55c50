package lockfree_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/limiter/examples/lockfree"
)

// keyedDesk is buckets by key and their metrics, with verbs that fail the test.
type keyedDesk struct {
	*testing.T
	*lockfree.Keyed
	registry *prometheus.Registry
}

func newKeyedDesk(t *testing.T, o lockfree.KeyedOptions) *keyedDesk {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	o.Registry = registry
	k, err := lockfree.NewKeyed(o)
	if err != nil {
		t.Fatal(err)
	}
	return &keyedDesk{t, k, registry}
}

func (d *keyedDesk) takes(key string, n int64, want bool) {
	d.Helper()
	if ok, err := d.TryAcquire(key, n); err != nil || ok != want {
		d.Fatalf("%s, %d: %v, %v", key, n, ok, err)
	}
}

// shows wants exactly those values of a metric, by its labels in the order of
// their names.
func (d *keyedDesk) shows(name string, want map[string]float64) {
	d.Helper()
	families, err := d.registry.Gather()
	if err != nil {
		d.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			if f.GetName() == name {
				got[strings.Join(labels, " ")] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		d.Error(name, diff)
	}
}

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newKeyedDesk(t, lockfree.KeyedOptions{
			Configured: map[string]lockfree.Config{"alice": perSecond(10, 1), "bob": perSecond(5, 1)},
			Implicit:   perSecond(1, 1),
		})
		d.takes("alice", 7, true)
		d.takes("alice", 7, false)
		d.takes("alice", 11, false)
		d.takes("10.0.0.1", 1, true)
		d.takes("10.0.0.2", 1, true)
		d.takes("10.0.0.2", 1, false)
		if _, err := d.TryAcquire("bob", -1); err == nil {
			t.Error("a negative charge was accepted")
		}
		time.Sleep(time.Second)
		d.shows("rate_limit_acquire_total", map[string]float64{
			"alice allowed": 1, "alice refused": 1, "alice never": 1, "alice error": 0,
			"bob allowed": 0, "bob refused": 0, "bob never": 0, "bob error": 1,
			"other allowed": 2, "other refused": 1, "other never": 0, "other error": 0,
		})
		d.shows("rate_limit_tokens", map[string]float64{"alice": 4, "bob": 5}) // of all others it would be a sum of strangers' tokens
		families, err := d.registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() != "rate_limit_acquire_duration_seconds" {
				continue
			}
			h := f.GetMetric()[0].GetHistogram()
			between := 0
			for _, b := range h.GetBucket() {
				if b.GetUpperBound() >= 200e-9 && b.GetUpperBound() < 4e-6 {
					between++
				}
			}
			if first := h.GetBucket()[0].GetUpperBound(); h.GetSampleCount() != 7 || first > 50.1e-9 || between < 3 {
				t.Errorf("%d samples, first bucket %v, %d between 200 ns and 4 µs", h.GetSampleCount(), first, between)
			}
		}
	})
}

func TestKeyedMisuse(t *testing.T) {
	good := perSecond(1, 1)
	for name, o := range map[string]lockfree.KeyedOptions{
		"no implicit":         {},
		"configured, invalid": {Implicit: good, Configured: map[string]lockfree.Config{"a": {}}},
		"the others' name":    {Implicit: good, Configured: map[string]lockfree.Config{"other": good}},
	} {
		o.Registry = prometheus.NewRegistry()
		if _, err := lockfree.NewKeyed(o); err == nil || strings.Contains(fmt.Sprint(err), "%!") {
			t.Error(name, err)
		}
	}
	twice := lockfree.KeyedOptions{Implicit: good, Registry: prometheus.NewRegistry()}
	if _, err := lockfree.NewKeyed(twice); err != nil {
		t.Error(err)
	}
	if _, err := lockfree.NewKeyed(twice); err == nil {
		t.Error("metrics were registered twice")
	}
}
