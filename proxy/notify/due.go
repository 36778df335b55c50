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

// periodOf is a period of a budget, by its end in Unix seconds. One that has none goes on until its amount changes: whoever tops it
// up wants to know when that is used, too.
type periodOf struct {
	budget string
	ends   int64 // 0: it has no end
	amount int64 // of one that has no end
}

func current(q *proxy.Quota) periodOf {
	if q.Ends.IsZero() {
		return periodOf{budget: ledger.BudgetName(q.Name), amount: q.State.Limit}
	}
	return periodOf{budget: ledger.BudgetName(q.Name), ends: q.Ends.Unix()}
}

// threshold is how a percentage is kept: "80%", or "80% of 100" in a period without an end.
func (p periodOf) threshold(percent int64) string {
	text := strconv.FormatInt(percent, 10) + "%"
	if p.ends == 0 {
		text += " of " + strconv.FormatInt(p.amount, 10)
	}
	return text
}

// parseNotice reads what was kept.
func parseNotice(n ledger.Notice) (p periodOf, percent int64, ok bool) {
	p = periodOf{budget: n.Budget, ends: n.Period}
	text, rest, _ := strings.Cut(n.At, "%")
	percent, err := strconv.ParseInt(text, 10, 64)
	if amount, is := strings.CutPrefix(rest, " of "); is && err == nil {
		p.amount, err = strconv.ParseInt(amount, 10, 64)
	}
	return p, percent, err == nil
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
		if p, at, ok := parseNotice(k); ok && !p.over(now) {
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
			notices = append(notices, ledger.Notice{Budget: p.budget, Period: p.ends, At: p.threshold(a)})
		}
	}
	r[p] = d.at
	return notices
}
