package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// Result is how a budget decided.
type Result uint8

// The results. Watched ones are for hosts with limits that only observe: they are
// what such a limit would have said.
const (
	Allowed Result = iota
	Refused        // it could pass later
	Never          // it is more than the budget can ever hold
	Failed         // misuse, or a store that could not answer
	WatchedAllowed
	WatchedRefused
)

var resultNames = [...]string{"allowed", "refused", "never", "error", "watched_allowed", "watched_refused"}

// String returns the value of the label.
func (r Result) String() string { return resultNames[r] }

// amount is what a budget's amounts are counted as.
type amount uint8

const (
	reserved amount = iota
	settled
	overrun
	refunded
	amounts
)

// Series are the metrics of one budget. Its methods may be called from any number
// of goroutines.
type Series struct {
	set     *Set
	values  []string
	results [len(resultNames)]prometheus.Counter // nil: not expected
	amounts [amounts]prometheus.Counter
}

// newSeries makes series that are there before anything happens, so that the first
// event is seen as one.
func (s *Set) newSeries(values []string, results []Result) *Series {
	made := &Series{set: s, values: slices.Clone(values)}
	for _, r := range results {
		made.results[r] = made.result(r)
	}
	for i, vec := range s.amounts {
		made.amounts[i] = vec.WithLabelValues(made.values...)
	}
	return made
}

func (s *Series) result(r Result) prometheus.Counter {
	return s.set.acquire.WithLabelValues(append(slices.Clip(s.values), r.String())...)
}

func (s *Set) amountCollectors() (all []prometheus.Collector) {
	for _, vec := range s.amounts {
		all = append(all, vec)
	}
	return all
}

// Count counts a decision.
func (s *Series) Count(r Result) {
	c := s.results[r]
	if c == nil {
		c = s.result(r)
	}
	c.Inc()
}

// Reserved counts an amount that was taken at an estimate.
func (s *Series) Reserved(n int64) { s.add(reserved, n) }

// Settled counts what became of an amount that was reserved.
func (s *Series) Settled(taken, actual int64) {
	s.add(settled, actual)
	s.add(overrun, actual-taken)
	s.add(refunded, taken-actual)
}

// Spent counts an amount that was charged for good without a reservation.
func (s *Series) Spent(n int64) { s.add(settled, n) }

func (s *Series) add(what amount, n int64) {
	if n > 0 {
		s.amounts[what].Add(float64(n))
	}
}
