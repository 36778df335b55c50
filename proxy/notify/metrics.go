package notify

import "github.com/prometheus/client_golang/prometheus"

// metrics are what a Prometheus server may scrape.
type metrics struct {
	notices           *prometheus.CounterVec
	delivered, failed prometheus.Counter // of notices
	waiting           prometheus.Gauge
}

func newMetrics() *metrics {
	notices := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tokenfare_notices_total", Help: "Tries to tell somebody of a budget, by result: delivered or failed.",
	}, []string{"result"})
	return &metrics{
		notices: notices, delivered: notices.WithLabelValues("delivered"), failed: notices.WithLabelValues("failed"),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{Name: "tokenfare_notices_waiting", Help: "Budgets of which somebody is to be told and was not yet."}),
	}
}

func (m *metrics) register(r prometheus.Registerer) error {
	for _, c := range []prometheus.Collector{m.notices, m.waiting} {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}
