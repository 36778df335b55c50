package main

import (
	"context"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/reconcile"
)

// readDays is the ledgerDays of a real ledger. Days whose rows are all kept are summed up from those, which know the tokens of calls
// that were not reported; older ones from the hourly sums, which know their number.
func readDays(ctx context.Context, config *Config, url string, first, last reconcile.Date, upstream string) ([]reconcile.Day, error) {
	if url == "" && config != nil {
		url = config.Ledger.URL
	}
	store, err := readLedger(ctx, url)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	s, err := store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	kept, err := s.Kept(ctx)
	if err != nil {
		return nil, err
	}
	days := dayBook{upstream: upstream, days: map[dayModel]*reconcile.Day{}}
	from, to := first.Start(), last.Start().AddDate(0, 0, 1)
	rows := from
	for rows.Before(kept) && rows.Before(to) {
		rows = rows.AddDate(0, 0, 1)
	}
	if from.Before(rows) {
		if err := s.Hours(ctx, ledger.HourQuery{From: from, To: rows, Hour: true, Series: true, Model: true}, days.hour); err != nil {
			return nil, err
		}
	}
	if rows.Before(to) {
		if err := s.Began(ctx, rows, to, days.exchange); err != nil {
			return nil, err
		}
		if err := s.Corrections(ctx, rows, to, days.correction); err != nil {
			return nil, err
		}
	}
	return days.list(), nil
}

// dayBook sums up days.
type dayBook struct {
	upstream string // empty: all
	days     map[dayModel]*reconcile.Day
}

type dayModel struct {
	date  reconcile.Date
	model string
}

// day returns the sum that calls of a model belong to, nil if their upstream is not asked for.
func (b *dayBook) day(at time.Time, series ledger.Series, asked, served string) *reconcile.Day {
	if b.upstream != "" && series.Upstream != b.upstream {
		return nil
	}
	if served != "" {
		asked = served
	}
	key := dayModel{reconcile.DateOf(at.UTC()), asked}
	if b.days[key] == nil {
		b.days[key] = &reconcile.Day{Date: key.date, Model: key.model, Known: reconcile.Usage | reconcile.Cost}
	}
	return b.days[key]
}

func (b *dayBook) hour(h ledger.Hour, s ledger.Sums) error {
	if d := b.day(time.Unix(h.Start, 0), h.Series, h.Model, h.Served); d != nil {
		d.Requests += s.Requests - s.Failed
		d.Input += s.Input
		d.CachedInput += s.CachedInput
		d.Output += s.Output
		d.Cost += s.Cost
		d.Unreported.Requests += s.Unreported
		d.Counted.Requests += s.Counted
	}
	return nil
}

// exchange adds a call that the provider has answered. One that runs yet is not in the provider's figures.
func (b *dayBook) exchange(x *ledger.Exchange) error {
	e := x.End
	if e == nil || e.Basis == ledger.Nothing {
		return nil
	}
	d := b.day(x.Begin.Exchange.Time(), x.Begin.Series, x.Begin.Model, e.Served)
	if d == nil {
		return nil
	}
	if x.Begin.Price == "" {
		d.Known &^= reconcile.Cost
	}
	d.Requests++
	d.Input += e.Usage.Input
	d.CachedInput += e.Usage.CachedInput
	d.Output += e.Usage.Output
	d.Cost += e.Cost
	d.Fees += e.Usage.Fees
	b.share(d, e.Basis, reconcile.Share{Requests: 1, Input: e.Usage.Input, Output: e.Usage.Output, Cost: e.Cost})
	return nil
}

// correction adds what was corrected later.
func (b *dayBook) correction(c *ledger.Correction) error {
	d := b.day(c.Exchange.Time(), c.Series, c.Model, c.Served)
	if d == nil {
		return nil
	}
	d.Input += c.Usage.Input
	d.CachedInput += c.Usage.CachedInput
	d.Output += c.Usage.Output
	d.Cost += c.Cost
	d.Fees += c.Usage.Fees
	switch {
	case c.Basis == ledger.Nothing && c.Was != ledger.Nothing:
		d.Requests--
		b.share(d, c.Was, reconcile.Share{Requests: -1, Input: c.Usage.Input, Output: c.Usage.Output, Cost: c.Cost})
	case c.Was == ledger.Nothing && c.Basis != ledger.Nothing:
		d.Requests++
		b.share(d, c.Basis, reconcile.Share{Requests: 1, Input: c.Usage.Input, Output: c.Usage.Output, Cost: c.Cost})
	default:
		b.share(d, c.Was, reconcile.Share{Input: c.Usage.Input, Output: c.Usage.Output, Cost: c.Cost})
	}
	return nil
}

// share adds to what the provider did not report.
func (b *dayBook) share(d *reconcile.Day, basis string, more reconcile.Share) {
	var of *reconcile.Share
	switch basis {
	case ledger.Unreported, ledger.Distrusted:
		of = &d.Unreported
	case ledger.Counted:
		of = &d.Counted
	default:
		return
	}
	of.Requests += more.Requests
	of.Input += more.Input
	of.Output += more.Output
	of.Cost += more.Cost
}

func (b *dayBook) list() []reconcile.Day {
	out := make([]reconcile.Day, 0, len(b.days))
	for _, d := range b.days {
		out = append(out, *d)
	}
	return out
}
