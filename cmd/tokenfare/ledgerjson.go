package main

import (
	"encoding/json"
	"io"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// verifiedJSON is what -json prints, in one line. Its shape is only ever added to.
type verifiedJSON struct {
	Balances    bool             `json:"balances"`
	Ledger      string           `json:"ledger"`
	At          time.Time        `json:"at"`
	Exchanges   int64            `json:"exchanges"`
	Corrections int64            `json:"corrections"`
	Open        openJSON         `json:"open"`
	Hours       int64            `json:"hourly_sums"`
	HoursFrom   *time.Time       `json:"hourly_sums_from"` // null: ever
	Days        int64            `json:"daily_sums"`
	Slots       int64            `json:"budget_sums"`
	SlotsFrom   *time.Time       `json:"budget_sums_from"` // null: ever
	Months      []monthJSON      `json:"months"`
	Differences []differenceJSON `json:"differences"`
	Further     int64            `json:"further_differences"`
	Unpriced    int64            `json:"unpriced,omitempty"` // calls whose cost was not compared with a price
	Unknown     []string         `json:"unknown_units,omitempty"`
	Damaged     []string         `json:"damaged_journals,omitempty"`
	Live        liveReport       `json:"live"`
}

type openJSON struct {
	Exchanges int64      `json:"exchanges"`
	Reserved  int64      `json:"reserved_nano_usd"`
	Oldest    *time.Time `json:"oldest"` // null: there is none
}

type monthJSON struct {
	Key       string            `json:"key"`
	Month     string            `json:"month"`
	Exchanges int64             `json:"exchanges"` // that cost something
	Cost      int64             `json:"cost_nano_usd"`
	Budgets   []monthBudgetJSON `json:"budgets"`
}

type monthBudgetJSON struct {
	Budget    string `json:"budget"`
	Charged   int64  `json:"charged_nano_usd"`
	Exchanges int64  `json:"exchanges"` // that charged it
	Why       string `json:"why,omitempty"`
}

type differenceJSON struct {
	Kind     string    `json:"kind"`
	Text     string    `json:"text"`
	Means    string    `json:"means"`
	Exchange string    `json:"exchange,omitempty"`
	At       time.Time `json:"at"`
	Key      string    `json:"key,omitempty"`
	Budget   string    `json:"budget,omitempty"`
	Figure   string    `json:"figure,omitempty"`
	Is       int64     `json:"is"`
	Should   int64     `json:"should"`
	Endpoint string    `json:"endpoint,omitempty"`
	Upstream string    `json:"upstream,omitempty"`
	Model    string    `json:"model,omitempty"`
	Label    string    `json:"label,omitempty"`
}

// printJSON prints what was found, on one line.
func (v *verified) printJSON(out io.Writer) error {
	line := verifiedJSON{
		Balances: v.balances(), Ledger: v.ledger, At: v.at.UTC(), Exchanges: v.Exchanges, Corrections: v.Corrections,
		Open:  openJSON{Exchanges: v.Open.N, Reserved: int64(v.Open.Reserved)},
		Hours: v.Hours, HoursFrom: unlessZero(v.HoursFrom), Days: v.Days, Slots: v.Slots, SlotsFrom: unlessZero(v.SlotsFrom),
		Months: []monthJSON{}, Differences: []differenceJSON{}, Further: v.Further, Unpriced: v.Unpriced, Unknown: v.Unknown, Damaged: v.damaged, Live: v.live,
	}
	if v.Open.N > 0 {
		line.Open.Oldest = unlessZero(v.Open.Oldest.Time())
	}
	for _, m := range v.Months {
		month := monthJSON{Key: m.Key, Month: m.Begin.Format("2006-01"), Exchanges: m.Exchanges, Cost: int64(m.Cost), Budgets: []monthBudgetJSON{}}
		for i := range m.Budgets {
			b := &m.Budgets[i]
			one := monthBudgetJSON{Budget: b.Budget, Charged: int64(b.Charged), Exchanges: b.Rows}
			if !b.Whole() {
				one.Why = whyNotCharged(b)
			}
			month.Budgets = append(month.Budgets, one)
		}
		line.Months = append(line.Months, month)
	}
	for i := range v.Differences {
		line.Differences = append(line.Differences, v.differenceJSON(&v.Differences[i]))
	}
	return json.NewEncoder(out).Encode(line)
}

func (v *verified) differenceJSON(d *ledger.Difference) differenceJSON {
	out := differenceJSON{
		Kind: string(d.Kind), Text: v.differenceText(d), Means: d.Kind.Means(), At: d.At.UTC(), Key: d.Key, Budget: d.Budget,
		Figure: d.Figure, Is: d.Is, Should: d.Should,
		Endpoint: d.Names.Series.Endpoint, Upstream: d.Names.Series.Upstream, Model: d.Names.Model, Label: d.Names.Label,
	}
	if d.Exchange != 0 {
		out.Exchange = d.Exchange.String()
	}
	return out
}

// unlessZero is nil for the zero time.
func unlessZero(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
