package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// openEvery is how often a ledger is tried that cannot be opened.
const openEvery = time.Second

// outage is the time in which the ledger cannot be opened for a reason that may pass.
type outage struct {
	since time.Time
	why   string
	gauge prometheus.Collector
}

// tryOpen opens the ledger. What may pass is no error, but an outage.
func (a *app) tryOpen(ctx context.Context) error {
	err := a.open(ctx)
	switch {
	case err == nil && a.outage != nil:
		a.log.Info("ledger available again", "after_ms", time.Since(a.outage.since).Milliseconds())
		a.outage = nil
	case err == nil:
	case ctx.Err() != nil:
		return nil // nobody waits for it any more
	case !mayPass(a.config.Ledger.URL, err):
		return err
	case a.outage == nil:
		a.outage = newOutage(a.registry, time.Now())
		fallthrough
	case a.outage.why != err.Error():
		a.outage.why = err.Error()
		then := "it is tried every second, and no call is served until it can be opened"
		if a.config.Ledger.Serve {
			then += ", on_failure: serve or not, for nobody knows without it what is left of the budgets"
		}
		a.log.Error("ledger unavailable", "error", err, "then", then)
	}
	return nil
}

// await returns once the ledger is open, or with the reason why it never will be: an error, or that ctx has ended, which is none.
func (a *app) await(ctx context.Context, failed <-chan error) error {
	tick := time.NewTicker(openEvery)
	defer tick.Stop()
	for a.server == nil {
		select {
		case err := <-failed:
			return fmt.Errorf("serve: %w", err)
		case <-ctx.Done():
			a.log.Info("stopped")
			return nil
		case <-tick.C:
		}
		if err := a.tryOpen(ctx); err != nil {
			return err
		}
	}
	return nil
}

// newOutage begins one. Until the ledger is open, this is where its metric comes from.
func newOutage(r *prometheus.Registry, since time.Time) *outage {
	o := &outage{since: since}
	o.gauge = prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "tokenfare_ledger_unavailable_seconds", Help: "For how long the ledger could not be written; 0 while it can be.",
	}, func() float64 { return time.Since(o.since).Seconds() })
	r.MustRegister(o.gauge)
	return o
}

// over leaves the metric to the ledger's writer. A nil outage has none.
func (o *outage) over(r *prometheus.Registry) {
	if o != nil {
		r.Unregister(o.gauge)
	}
}

// waitingAdmin serves what operators look at while the ledger is not open.
func (a *app) waitingAdmin(waiting http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", guard(a.config.Admin.Token, promhttp.HandlerFor(a.registry, promhttp.HandlerOpts{})))
	mux.Handle("GET /healthz", waiting)
	mux.Handle("GET /readyz", waiting)
	mux.Handle("/", guard(a.config.Admin.Token, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeAdminError(w, http.StatusServiceUnavailable, "ledger_unavailable", "The ledger cannot be opened, so nothing is counted yet; the proxy's log has the cause.")
	})))
	return mux
}
