package lockfree_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

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

func (d *keyedDesk) shows(metrics, name string) {
	d.Helper()
	if err := testutil.GatherAndCompare(d.registry, strings.NewReader(metrics), name); err != nil {
		d.Error(err)
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
		d.takes("10.0.0.1", 1, true)
		d.takes("10.0.0.2", 1, true)
		d.takes("10.0.0.2", 1, false)
		if _, err := d.TryAcquire("bob", -1); err == nil {
			t.Error("a negative charge was accepted")
		}
		time.Sleep(time.Second)
		d.shows(`
			# HELP rate_limit_acquire_total Decisions, by the alias of the key and result.
			# TYPE rate_limit_acquire_total counter
			rate_limit_acquire_total{key="alice",result="allowed"} 1
			rate_limit_acquire_total{key="alice",result="denied"} 1
			rate_limit_acquire_total{key="alice",result="error"} 0
			rate_limit_acquire_total{key="bob",result="allowed"} 0
			rate_limit_acquire_total{key="bob",result="denied"} 0
			rate_limit_acquire_total{key="bob",result="error"} 1
			rate_limit_acquire_total{key="other",result="allowed"} 2
			rate_limit_acquire_total{key="other",result="denied"} 1
			rate_limit_acquire_total{key="other",result="error"} 0
		`, "rate_limit_acquire_total")
		d.shows(`
			# HELP rate_limit_tokens Whole tokens in the bucket.
			# TYPE rate_limit_tokens gauge
			rate_limit_tokens{key="alice"} 4
			rate_limit_tokens{key="bob"} 5
		`, "rate_limit_tokens")
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
			if first := h.GetBucket()[0].GetUpperBound(); h.GetSampleCount() != 6 || first > 50.1e-9 || between < 3 {
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
		"the others' name":    {Implicit: good, Configured: map[string]lockfree.Config{lockfree.Other: good}},
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
