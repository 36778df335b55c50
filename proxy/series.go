package proxy

import (
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// series keeps counters and histograms that were looked up by their labels, which takes longer than to count with them. There are no
// more of them than the configurations this process has run give reason for. It is safe for concurrent use.
type series[K comparable, V any] struct {
	make func(K) V
	mu   sync.RWMutex
	made map[K]V // guarded by mu
}

func newSeries[K comparable, V any](make func(K) V) *series[K, V] {
	return &series[K, V]{make: make, made: map[K]V{}}
}

func (s *series[K, V]) of(key K) V {
	s.mu.RLock()
	v, ok := s.made[key]
	s.mu.RUnlock()
	if ok {
		return v
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok = s.made[key]; !ok {
		v = s.make(key)
		s.made[key] = v
	}
	return v
}

// requestLabels are the labels of a request, endingLabels those of how a call ended.
type (
	requestLabels struct {
		key, model string
		status     int
	}
	endingLabels struct {
		ending string
		basis  basis
	}
)

// modelSeries are the histograms of a model.
type modelSeries struct{ duration, firstByte, errorRatio prometheus.Observer }

// keySeries are the counters of a key.
type keySeries struct {
	estimatedInput, estimatedOutput       prometheus.Counter
	input, cachedInput, output, reasoning prometheus.Counter
	spent, overshoot                      prometheus.Counter
}

// keep makes the places where what was looked up is kept.
func (m *metrics) keep() {
	m.byRequest = newSeries(func(l requestLabels) prometheus.Counter {
		return m.requests.WithLabelValues(l.key, l.model, strconv.Itoa(l.status))
	})
	m.byEnding = newSeries(func(l endingLabels) prometheus.Counter {
		return m.endings.WithLabelValues(l.ending, l.basis.String())
	})
	m.byModel = newSeries(func(model string) modelSeries {
		return modelSeries{m.duration.WithLabelValues(model), m.firstByte.WithLabelValues(model), m.errorRatio.WithLabelValues(model)}
	})
	m.byKey = newSeries(func(key string) *keySeries {
		return &keySeries{
			estimatedInput: m.estimated.WithLabelValues(key, "input"), estimatedOutput: m.estimated.WithLabelValues(key, "output"),
			input: m.settled.WithLabelValues(key, "input"), cachedInput: m.settled.WithLabelValues(key, "cached_input"),
			output: m.settled.WithLabelValues(key, "output"), reasoning: m.settled.WithLabelValues(key, "reasoning"),
			spent: m.spent.WithLabelValues(key), overshoot: m.overshoot.WithLabelValues(key),
		}
	})
}
