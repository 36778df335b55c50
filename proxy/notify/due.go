package notify

import (
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

// record is what was told of each budget, by its name.
type record map[string]told

// told is the highest threshold that was told of in a period.
type told struct {
	ends int64 // of the period, Unix seconds; 0: never
	at   int64
}

// recordOf reads what was kept. Of periods that are over nothing need be known.
func recordOf(kept []ledger.Notice, now time.Time) record {
	r := record{}
	for _, k := range kept {
		at, err := strconv.ParseInt(strings.TrimSuffix(k.At, "%"), 10, 64)
		if err != nil || k.Period != 0 && k.Period <= now.Unix() {
			continue
		}
		old, known := r[k.Budget]
		switch {
		case !known || later(k.Period, old.ends):
			r[k.Budget] = told{k.Period, at}
		case k.Period == old.ends:
			r[k.Budget] = told{k.Period, max(at, old.at)}
		}
	}
	return r
}

// later reports whether a period ends after another one. The one that never ends is the last.
func later(ends, other int64) bool { return other != 0 && (ends == 0 || ends > other) }

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
		if highest > r.highest(q) {
			list = append(list, due{*q, highest})
		}
	}
	return list
}

// highest is the highest threshold that was told of in the period that goes on; 0: none was.
func (r record) highest(q *proxy.Quota) int64 {
	if t := r[q.Name]; t.ends == period(q) {
		return t.at
	}
	return 0
}

// add remembers that somebody was told, and returns the notices to keep: with the threshold, those below it are told.
func (r record) add(d due, at []int64) []ledger.Notice {
	var notices []ledger.Notice
	for before := r.highest(&d.Quota); len(at) > 0 && at[0] <= d.at; at = at[1:] {
		if at[0] > before {
			notices = append(notices, ledger.Notice{Budget: d.Name, Period: period(&d.Quota), At: strconv.FormatInt(at[0], 10) + "%"})
		}
	}
	r[d.Name] = told{period(&d.Quota), d.at}
	return notices
}

// period is how notices name the period that goes on: by its end.
func period(q *proxy.Quota) int64 {
	if q.Ends.IsZero() {
		return 0
	}
	return q.Ends.Unix()
}
