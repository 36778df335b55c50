package proxy

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokenfare/tokenfare/limiter"
	limitmetrics "github.com/tokenfare/tokenfare/limiter/metrics"
)

// metrics are what a Prometheus server may scrape. Label values come from the configuration or from small fixed sets, never
// from a request.
type metrics struct {
	// Of budgets, in each one's own unit. They are counted here and not by the limiter: a call that is tried at two output
	// bounds is one decision, and some limits decide without a counter.
	limits *limitmetrics.Set

	requests     *prometheus.CounterVec
	duration     *prometheus.HistogramVec
	firstByte    *prometheus.HistogramVec
	estimated    *prometheus.CounterVec
	settled      *prometheus.CounterVec
	spent        *prometheus.CounterVec
	overshoot    *prometheus.CounterVec
	errorRatio   *prometheus.HistogramVec
	endings      *prometheus.CounterVec
	earlyRetries *prometheus.CounterVec
	rejected     *prometheus.CounterVec
	failovers    *prometheus.CounterVec
	rests        *prometheus.CounterVec
	listFailures *prometheus.CounterVec
	draws        prometheus.Counter
	drawWaits    prometheus.Histogram
	byRequest    *series[requestLabels, prometheus.Counter]
	byEnding     *series[endingLabels, prometheus.Counter]
	byModel      *series[string, modelSeries]
	byKey        *series[string, *keySeries]
	panics       prometheus.Counter
	settleFailed prometheus.Counter

	strangers strangers // whose requests are all counted, and not all logged
}

// From a refusal to a long reasoning answer.
var requestBuckets = []float64{.001, .005, .025, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1200}

// Closest around 1, which is an estimate without error.
var ratioBuckets = []float64{.5, .75, .9, .95, .98, .99, .995, 1, 1.005, 1.01, 1.02, 1.05, 1.1, 1.25, 1.5, 2, 4}

// mostBudgets is how many budgets have series of their own. The configuration decides how many there are; this is what a server
// that scrapes should never see.
const mostBudgets = 10_000

func newMetrics(s *Server, reg prometheus.Registerer) (*metrics, error) {
	limits, err := limitmetrics.New(limitmetrics.Options{Registry: reg, Labels: []string{"key", "budget"}, Most: mostBudgets})
	if err != nil {
		return nil, err
	}
	limits.Levels(s.budgetLevels)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	seconds := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: requestBuckets}, labels)
	}
	m := &metrics{
		limits:    limits,
		requests:  counter("tokenfare_requests_total", "Requests by caller, configured model and status code.", "key", "model", "code"),
		duration:  seconds("tokenfare_request_duration_seconds", "Time from a request's first byte to the end of its answer.", "model"),
		firstByte: seconds("tokenfare_time_to_first_byte_seconds", "Time from a request's first byte to its answer's first byte.", "model"),
		estimated: counter("tokenfare_estimated_tokens_total", "Tokens reserved before calls, by kind: input or output.", "key", "kind"),
		settled: counter("tokenfare_settled_tokens_total", "Tokens charged after calls, by kind: input, cached_input (part of input), output, "+
			"reasoning (part of output).", "key", "kind"),
		spent:     counter("tokenfare_settled_dollars_total", "Dollars charged after calls.", "key"),
		overshoot: counter("tokenfare_overshoot_tokens_total", "Tokens used beyond what was reserved for them.", "key"),
		errorRatio: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tokenfare_estimate_error_ratio", Help: "Input tokens reported by the upstream for each token estimated.", Buckets: ratioBuckets,
		}, []string{"model"}),
		endings:      counter("tokenfare_endings_total", "How calls ended and what their charge rests on.", "ending", "basis"),
		earlyRetries: counter("tokenfare_early_retries_total", "Refused requests that came again before the time they were told.", "key"),
		rejected:     counter("tokenfare_upstream_rejections_total", "Answers 401, 402 or 403 of an upstream to this proxy's own key.", "upstream"),
		failovers:    counter("tokenfare_failovers_total", "Calls that an upstream did not take and another was asked to.", "from", "to"),
		rests:        counter("tokenfare_upstream_rests_total", "How often an upstream failed several calls in a row, so that others go first for a while.", "upstream"),
		listFailures: counter("tokenfare_model_list_failures_total", "Model lists that an upstream did not send.", "upstream"),
		draws:        prometheus.NewCounter(prometheus.CounterOpts{Name: "tokenfare_draws_total", Help: "Steps in which streams without an output limit drew more than they had reserved."}),
		drawWaits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "tokenfare_draw_wait_seconds", Help: "How long such streams waited for a budget to refill, where they had to.", Buckets: requestBuckets,
		}),
		panics:       prometheus.NewCounter(prometheus.CounterOpts{Name: "tokenfare_panics_total", Help: "Calls that ended in a panic of this proxy."}),
		settleFailed: prometheus.NewCounter(prometheus.CounterOpts{Name: "tokenfare_settle_failures_total", Help: "Settlements that the limiter could not take."}),
	}
	m.keep()
	for _, c := range []prometheus.Collector{
		m.requests, m.duration, m.firstByte, m.estimated, m.settled, m.spent, m.overshoot, m.errorRatio, m.endings,
		m.earlyRetries, m.rejected, m.failovers, m.rests, m.listFailures, m.draws, m.drawWaits, m.panics, m.settleFailed, &levels{server: s},
	} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// bind looks up the series of every budget of a policy, before it is used.
func (m *metrics) bind(p *Policy) {
	for _, c := range p.callers {
		m.earlyRetries.WithLabelValues(c.name) // so that it is there before the first one
		m.bindBudgets(c.budgets)
	}
	for name, u := range p.upstreams {
		m.bindBudgets(u.budgets)
		m.rejected.WithLabelValues(name) // an alarm sees nothing of a series that begins at one
		m.rests.WithLabelValues(name)
	}
	for _, pool := range p.pools {
		for _, from := range pool.routes {
			for _, to := range pool.routes {
				if from != to {
					m.failovers.WithLabelValues(from.upstream.Name, to.upstream.Name)
				}
			}
		}
	}
}

func (m *metrics) bindBudgets(budgets []*budget) {
	for _, b := range budgets {
		if b.limit.Observe {
			b.series = m.limits.Watched(b.owner.label(), b.limit.Text)
		} else {
			b.series = m.limits.Series(b.owner.label(), b.limit.Text)
		}
	}
}

// reserved counts a call that was let in.
func (m *metrics) reserved(d draws, by limiter.Source, took time.Duration) {
	m.limits.Decided(by, took)
	for i, b := range d.budgets {
		b.series.Count(limitmetrics.Allowed)
		b.series.Reserved(d.charges[i].N)
	}
}

func (m *metrics) refusedBy(b *budget, by limiter.Source, took time.Duration) {
	m.limits.Decided(by, took)
	b.series.Count(limitmetrics.Refused)
}

func (m *metrics) never(b *budget) { b.series.Count(limitmetrics.Never) }

func (m *metrics) watched(b *budget, ok bool) {
	if ok {
		b.series.Count(limitmetrics.WatchedAllowed)
	} else {
		b.series.Count(limitmetrics.WatchedRefused)
	}
}

func (m *metrics) failover(from, to string) { m.failovers.WithLabelValues(from, to).Inc() }

func (m *metrics) upstreamRejected(name string) { m.rejected.WithLabelValues(name).Inc() }
func (m *metrics) modelListFailed(name string)  { m.listFailures.WithLabelValues(name).Inc() }

// finished counts a request that is over.
func (m *metrics) finished(rec *record, now time.Time) {
	model := ""
	x := rec.exchange
	if x != nil && x.route != nil {
		model = x.route.Pattern
	}
	m.byRequest.of(requestLabels{rec.key, model, rec.status}).Inc()
	if x == nil || x.route == nil {
		return
	}
	of := m.byModel.of(model)
	of.duration.Observe(now.Sub(rec.began).Seconds())
	if !rec.firstByte.IsZero() {
		of.firstByte.Observe(rec.firstByte.Sub(rec.began).Seconds())
	}
	m.byEnding.of(endingLabels{x.outcome.ending, x.outcome.basis}).Inc()
	if !x.begun {
		return
	}
	u, key := x.outcome.usage, m.byKey.of(rec.key)
	key.estimatedInput.Add(float64(x.estimate.Input))
	key.estimatedOutput.Add(float64(x.estimate.MaxOutput))
	key.input.Add(float64(u.Input))
	key.cachedInput.Add(float64(u.CachedInput))
	key.output.Add(float64(u.Output))
	key.reasoning.Add(float64(u.Reasoning))
	key.spent.Add(float64(x.outcome.cost) / 1e9)
	key.overshoot.Add(float64(x.outcome.over))
	if x.outcome.basis == chargeReported && x.estimate.Input > 0 {
		of.errorRatio.Observe(float64(u.Input) / float64(x.estimate.Input))
	}
}

// budgetLevels reads the budgets of the current policy when they are scraped.
func (s *Server) budgetLevels(ctx context.Context, show func(*limitmetrics.Series, limiter.State)) {
	p := s.current()
	if p == nil {
		return
	}
	charge := make([]limiter.Charge, 1)
	for _, b := range p.budgets {
		charge[0] = limiter.Charge{Budget: b.handle}
		if _, err := s.options.Limiter.Peek(ctx, charge); err == nil {
			show(b.series, b.asLimited(charge[0].State))
		}
	}
}

// levels reads what else is there when it is scraped.
type levels struct{ server *Server }

var (
	openDesc    = prometheus.NewDesc("tokenfare_open_reservations", "Reservations of running calls, not yet settled.", nil, nil)
	rowsDesc    = prometheus.NewDesc("tokenfare_ledger_rows_total", "Rows that became durable in the ledger.", nil, nil)
	commitsDesc = prometheus.NewDesc("tokenfare_ledger_commits_total", "Group commits of the ledger.", nil, nil)
	failedDesc  = prometheus.NewDesc("tokenfare_ledger_failures_total", "Commits of the ledger that failed, each attempt counted.", nil, nil)
	unkeptDesc  = prometheus.NewDesc("tokenfare_ledger_journal_failures_total", "Writes to the ledger's journal that failed: answers waited for the ledger itself.", nil, nil)
	lostDesc    = prometheus.NewDesc("tokenfare_ledger_lost_rows_total", "Rows that were not recorded, as the ledger could not be written and memory was full.", nil, nil)
	queuedDesc  = prometheus.NewDesc("tokenfare_ledger_queued_rows", "Rows that wait to be written to the ledger.", nil, nil)
	failingDesc = prometheus.NewDesc("tokenfare_ledger_unavailable_seconds", "For how long the ledger could not be written; 0 while it can be.", nil, nil)
	bodyDesc    = prometheus.NewDesc("tokenfare_buffered_body_bytes", "Bytes of request bodies in memory.", nil, nil)
)

// Describe lists the metrics.
func (l *levels) Describe(out chan<- *prometheus.Desc) {
	out <- openDesc
	out <- bodyDesc
	if l.server.options.Ledger == nil {
		return
	}
	for _, d := range []*prometheus.Desc{rowsDesc, commitsDesc, failedDesc, unkeptDesc, lostDesc, queuedDesc, failingDesc} {
		out <- d
	}
}

// Collect reads them.
func (l *levels) Collect(out chan<- prometheus.Metric) {
	out <- prometheus.MustNewConstMetric(bodyDesc, prometheus.GaugeValue, float64(l.server.room.size()))
	l.collectLedger(out)
	if opener, ok := l.server.options.Limiter.(interface{ OpenCount() int }); ok {
		out <- prometheus.MustNewConstMetric(openDesc, prometheus.GaugeValue, float64(opener.OpenCount()))
	}
}

func (l *levels) collectLedger(out chan<- prometheus.Metric) {
	if l.server.options.Ledger == nil {
		return
	}
	s := l.server.options.Ledger.Stats()
	for _, m := range []struct {
		desc  *prometheus.Desc
		kind  prometheus.ValueType
		value float64
	}{
		{rowsDesc, prometheus.CounterValue, float64(s.Rows)},
		{commitsDesc, prometheus.CounterValue, float64(s.Commits)},
		{failedDesc, prometheus.CounterValue, float64(s.Failures)},
		{unkeptDesc, prometheus.CounterValue, float64(s.Unkept)},
		{lostDesc, prometheus.CounterValue, float64(s.Lost)},
		{queuedDesc, prometheus.GaugeValue, float64(s.Queued)},
		{failingDesc, prometheus.GaugeValue, s.Failing.Seconds()},
	} {
		out <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value)
	}
}
