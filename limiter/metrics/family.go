package metrics

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/limiter"
)

// ShowFamily registers how many names a family has, how many it has dropped and
// how often it was full, under a name that comes from configuration.
func (s *Set) ShowFamily(name string, f *limiter.Family) error {
	labels := prometheus.Labels{"family": labelText(name)}
	err := errors.Join(
		s.registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "rate_limit_names", Help: "Names a family of budgets has.", ConstLabels: labels,
		}, func() float64 { return float64(f.Len()) })),
		s.registry.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "rate_limit_evictions_total", Help: "Names a family of budgets has dropped, being as good as new.", ConstLabels: labels,
		}, func() float64 { return float64(f.Dropped()) })),
		s.registry.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "rate_limit_shared_names_total", Help: "Times a new name found a family full and was given the newcomers' common budget.", ConstLabels: labels,
		}, func() float64 { return float64(f.Shared()) })),
	)
	if err != nil {
		return fmt.Errorf("metrics: family %s: %w", name, err)
	}
	return nil
}
