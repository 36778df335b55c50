package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Family is budgets that are made and dropped by name, as those of limiter.Family.
type Family interface {
	Len() int // names there are
}

// ShowFamily registers how many names a family has, under a name that comes from
// configuration. If the family has a method Dropped() int64, the number of names it
// has dropped in all, evictions are shown as well.
func (s *Set) ShowFamily(name string, f Family) error {
	labels := prometheus.Labels{"family": labelText(name)}
	err := s.registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rate_limit_names", Help: "Names a family of budgets has.", ConstLabels: labels,
	}, func() float64 { return float64(f.Len()) }))
	if counting, ok := f.(interface{ Dropped() int64 }); ok && err == nil {
		err = s.registry.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "rate_limit_evictions_total", Help: "Names a family of budgets has dropped, being as good as new.", ConstLabels: labels,
		}, func() float64 { return float64(counting.Dropped()) }))
	}
	if err != nil {
		return fmt.Errorf("metrics: family %s: %w", name, err)
	}
	return nil
}
