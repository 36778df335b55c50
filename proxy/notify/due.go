package notify

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy"
)

// almost is the percentage from which on a quota is as good as used up, once a call was refused because too little of it is
// left: nothing more than a tenth of it fits.
const almost = 90

// due is a quota of which somebody is to be told, and the highest threshold that it has reached.
type due struct {
	proxy.Quota
	at int64
}

// reached reports whether a quota has reached a threshold. Calls reserve before they go out, and what does not fit is refused:
// few budgets are ever used to the last token. So all of one is used when calls are refused.
func reached(q *proxy.Quota, at int64) bool {
	return q.Percent >= at || at == 100 && q.Refused && q.Percent >= almost
}

// record is the highest threshold that was told of each budget in a period.
type record map[periodOf]int64

// periodOf is a period of a budget, by its end in Unix seconds; 0: it has none.
type periodOf struct {
	budget string
	ends   int64
}

func current(q *proxy.Quota) periodOf {
	if q.Ends.IsZero() {
		return periodOf{budget: q.Name}
	}
	return periodOf{q.Name, q.Ends.Unix()}
}

// over reports whether a period had ended yesterday, so that nothing need be known of it any more.
func (p periodOf) over(now time.Time) bool {
	return p.ends != 0 && p.ends < now.Add(-24*time.Hour).Unix()
}

// forget drops what was told of periods that are over.
func (r record) forget(now time.Time) {
	maps.DeleteFunc(r, func(p periodOf, _ int64) bool { return p.over(now) })
}

// learn adds what was kept, by this process or another.
func (r record) learn(kept []ledger.Notice, now time.Time) {
	for _, k := range kept {
		at, err := strconv.ParseInt(strings.TrimSuffix(k.At, "%"), 10, 64)
		if p := (periodOf{k.Budget, k.Period}); err == nil && !p.over(now) {
			r[p] = max(r[p], at)
		}
	}
}

// due lists the quotas that have reached a threshold of which nobody was told.
func (r record) due(quotas []proxy.Quota, at []int64) []due {
	var list []due
	for i := range quotas {
		q := &quotas[i]
		highest := int64(0)
		for _, a := range at {
			if reached(q, a) {
				highest = a
			}
		}
		if highest > r[current(q)] {
			list = append(list, due{*q, highest})
		}
	}
	return list
}

// add remembers that somebody was told, and returns the notices to keep: with the threshold, those below it are told.
func (r record) add(d due, at []int64) []ledger.Notice {
	p := current(&d.Quota)
	var notices []ledger.Notice
	for _, a := range at {
		if r[p] < a && a <= d.at {
			notices = append(notices, ledger.Notice{Budget: p.budget, Period: p.ends, At: strconv.FormatInt(a, 10) + "%"})
		}
	}
	r[p] = d.at
	return notices
}
