package metrics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/limiter"
)

// Options say how metrics are named and where they go.
type Options struct {
	Registry prometheus.Registerer // required

	// Labels tell budgets apart, besides the result. Nil means "key". More
	// than one is for hosts that use the Set alone.
	Labels []string

	// Most is how many budgets, or rather values of the labels, have series of
	// their own; all others share those of "other". 0 means 1000.
	Most int

	// Key is the label of a budget of that name, for Wrap. It is called for
	// every charge on a budget that did not come from Limiter.Budget, from any
	// goroutine. "" means "other". If Key is nil, budgets from Limiter.Budget go
	// by their names, and all others are "other".
	Key func(budget string) string
}

// Other is the value of the labels of all budgets that have none of their own.
const Other = "other"

// From 50 ns, so that a decision in memory (200 ns) and a slow one (4 µs) can be
// told apart, to a second.
var buckets = []float64{50e-9, 100e-9, 200e-9, 500e-9, 1e-6, 2e-6, 4e-6, 10e-6, 50e-6, 250e-6, 1e-3, 10e-3, 100e-3, 1}

// readTimeout bounds how long a scrape waits for a limiter to tell its levels.
const readTimeout = 2 * time.Second

// Set is the metrics of one limiter. Its methods may be called from any number
// of goroutines.
type Set struct {
	registry prometheus.Registerer
	labels   int
	most     int

	acquire  *prometheus.CounterVec
	duration prometheus.Histogram
	sources  []prometheus.Counter // by limiter.Source
	unknown  prometheus.Counter   // sources that came after this was written
	amounts  [amounts]*prometheus.CounterVec
	levels   atomic.Pointer[func(context.Context, func(*Series, limiter.State))]

	mu     sync.RWMutex
	series map[string]*Series // by the values of their labels; guarded by mu
	other  *Series
}

// New registers the metrics of a limiter.
func New(o Options) (*Set, error) {
	if o.Registry == nil {
		return nil, errors.New("metrics: Options.Registry is missing")
	}
	if o.Labels == nil {
		o.Labels = []string{"key"}
	}
	if o.Most <= 0 {
		o.Most = 1000
	}
	s := &Set{registry: o.Registry, labels: len(o.Labels), most: o.Most, series: map[string]*Series{}}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	s.acquire = counter("rate_limit_acquire_total", "Decisions of each budget: allowed, refused (come back later), never (too large for it), error, "+
		"watched_allowed and watched_refused (what a limit that only observes would have said).", slices.Concat(o.Labels, []string{"result"})...)
	s.duration = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "rate_limit_acquire_duration_seconds", Help: "Time to decide over all budgets of a call.", Buckets: buckets,
	})
	s.amounts = [amounts]*prometheus.CounterVec{
		reserved: counter("rate_limit_reserved_total", "Amounts reserved before calls and drawn by running ones, in each budget's own unit.", o.Labels...),
		settled:  counter("rate_limit_settled_total", "Amounts charged for good, in each budget's own unit.", o.Labels...),
		overrun:  counter("rate_limit_overrun_total", "Amounts used beyond what was reserved for them: debt.", o.Labels...),
		refunded: counter("rate_limit_refunded_total", "Amounts reserved and not used.", o.Labels...),
	}
	decisions := counter("rate_limit_decisions_total", "Decisions by who made them: local, store, leased or degraded.", "source")
	for _, c := range append([]prometheus.Collector{s.acquire, s.duration, decisions, newLevels(s, o.Labels)}, s.amountCollectors()...) {
		if err := o.Registry.Register(c); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	for source := limiter.Local; source <= limiter.Degraded; source++ {
		s.sources = append(s.sources, decisions.WithLabelValues(source.String()))
	}
	s.unknown = decisions.WithLabelValues(Other)
	return s, nil
}

// Series returns the series of a budget that calls are refused by. The values are
// those of Options.Labels.
func (s *Set) Series(values ...string) *Series {
	return s.find(values, Allowed, Refused, Never, Failed)
}

// Watched returns the series of a budget that only observes.
func (s *Set) Watched(values ...string) *Series {
	return s.find(values, WatchedAllowed, WatchedRefused)
}

// Decided counts a decision over all budgets of a call and the time it took.
func (s *Set) Decided(by limiter.Source, took time.Duration) {
	s.duration.Observe(took.Seconds())
	if int(by) < len(s.sources) {
		s.sources[by].Inc()
	} else {
		s.unknown.Inc()
	}
}

// Levels has read tell, at every scrape, how each budget is that should be
// seen. Of several states of one series the one with the least left is shown.
func (s *Set) Levels(read func(ctx context.Context, show func(*Series, limiter.State))) {
	s.levels.Store(&read)
}

// find looks series up, or makes them with the results that they will have. Who
// passes labels of another number has made a mistake.
func (s *Set) find(values []string, results ...Result) *Series {
	if len(values) != s.labels {
		panic(fmt.Sprintf("BUG: metrics: %d label values for %d labels", len(values), s.labels))
	}
	if slices.ContainsFunc(values, unfit) {
		values = slices.Clone(values)
		for i := range values {
			values[i] = labelText(values[i])
		}
	}
	id := values[0]
	if len(values) > 1 {
		id = strings.Join(values, "\xff") // which no value holds
	}
	s.mu.RLock()
	found := s.series[id]
	s.mu.RUnlock()
	if found != nil {
		return found
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.series[id] != nil:
		return s.series[id]
	case len(s.series) < s.most && !slices.Equal(values, s.otherValues()):
		s.series[strings.Clone(id)] = s.newSeries(values, results)
		return s.series[id]
	case s.other == nil:
		s.other = s.newSeries(s.otherValues(), results)
	}
	return s.other
}

func (s *Set) otherValues() []string { return slices.Repeat([]string{Other}, s.labels) }

// longest is how long a label may be, in bytes.
const longest = 128

// unfit reports whether a text cannot be a label as it is: labels must be UTF-8, and should be short.
func unfit(text string) bool { return len(text) > longest || !utf8.ValidString(text) }

// labelText makes a text fit for a label.
func labelText(text string) string {
	if len(text) > longest {
		text = text[:longest-len("…")-utf8.UTFMax] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
