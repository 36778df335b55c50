package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/limiter"
)

// levels asks how budgets are when it is scraped.
type levels struct {
	set        *Set
	left, debt *prometheus.Desc
}

func newLevels(s *Set, labels []string) *levels {
	return &levels{
		set:  s,
		left: prometheus.NewDesc("rate_limit_tokens", "What a budget has left, in its own unit.", labels, nil),
		debt: prometheus.NewDesc("rate_limit_debt", "What a budget has counted beyond its limit, in its own unit: nothing is admitted until it is repaid.", labels, nil),
	}
}

// Describe lists the metrics.
func (l *levels) Describe(out chan<- *prometheus.Desc) {
	out <- l.left
	out <- l.debt
}

// Collect reads them.
func (l *levels) Collect(out chan<- prometheus.Metric) {
	read := l.set.levels.Load()
	if read == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	states := map[*Series]limiter.State{}
	(*read)(ctx, func(s *Series, is limiter.State) {
		if was, seen := states[s]; !seen || is.Remaining < was.Remaining || debt(is) > debt(was) {
			states[s] = is
		}
	})
	for s, state := range states {
		if s.isOther() {
			continue
		}
		out <- prometheus.MustNewConstMetric(l.left, prometheus.GaugeValue, float64(state.Remaining), s.values...)
		out <- prometheus.MustNewConstMetric(l.debt, prometheus.GaugeValue, debt(state), s.values...)
	}
}

// isOther reports whether the series are those of many budgets.
func (s *Series) isOther() bool {
	for _, v := range s.values {
		if v != Other {
			return false
		}
	}
	return true
}

// debt is a float from the start: the sum need not fit in 64 bits.
func debt(s limiter.State) float64 {
	return max(0, float64(s.Used)+float64(s.Held)-float64(s.Limit))
}
