package ledger

import (
	"context"
	"maps"
	"slices"
	"time"
)

// VerifyOptions are how a ledger is verified.
type VerifyOptions struct {
	MostDifferences int                              // that are listed; zero means 1000
	Zone            *time.Location                   // in which months begin; nil means UTC
	Progress        func(upto time.Time, rows int64) // is told now and then how far it has come; may be nil
}

// Verify proves a ledger's books against each other, as they are in a snapshot:
//
//   - Hourly sums are those of the rows and corrections, and sums of days are those of their hours.
//   - The sums from which budgets are rebuilt are what rows and corrections charged them.
//   - Every row charges each of its budgets what the row itself comes to in the budget's unit, and so does every exchange with
//     its corrections.
//   - What every exchange has reserved, and what it cost, is what the row's usage costs at the price that it names.
//   - What a key's exchanges cost in a month is what its budgets in dollars were charged for them.
//   - Every end has its begin, no exchange has two ends, and one without an end is known to a writer.
//
// It reads every row once, in the order in which exchanges began, and keeps no more in memory than the sums of a day. An error
// says that the ledger cannot be read; what is wrong in it is in the report.
func Verify(ctx context.Context, s Snapshot, o VerifyOptions) (*Report, error) {
	if o.MostDifferences == 0 {
		o.MostDifferences = 1000
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	v := &verifier{
		Snapshot: s, options: o, report: &Report{}, known: map[ID]bool{}, unknown: map[string]bool{},
		slots: newSlotTally(), months: newMonthTally(o.Zone),
	}
	if err := v.begin(ctx); err != nil {
		return nil, err
	}
	if err := v.walk(ctx); err != nil {
		return nil, err
	}
	v.closeSlots()
	v.closeMonths()
	err := s.Strays(ctx, func(stray Stray) error {
		v.stray(stray)
		return nil
	})
	v.report.Unknown = slices.Sorted(maps.Keys(v.unknown))
	return v.report, err
}

// verifier is a verification under way.
type verifier struct {
	Snapshot
	options VerifyOptions
	report  *Report

	kept      time.Time       // rows of exchanges that ended then or later are all there
	hoursFrom int64           // Unix seconds; sums of hours from then on are compared
	known     map[ID]bool     // exchanges that are open, as writers say
	unknown   map[string]bool // units
	last      ID              // of the exchange that was read last

	prices priceBook
	hours  hourTally
	slots  *slotTally
	months *monthTally
}

// begin finds out from when on all rows are there.
func (v *verifier) begin(ctx context.Context) error {
	kept, err := v.Kept(ctx)
	if err != nil {
		return err
	}
	v.kept = kept
	open, err := v.Unfinished(ctx)
	if err != nil {
		return err
	}
	for i := range open {
		v.known[open[i].Begin.Exchange] = true
	}
	if err := v.readPrices(ctx); err != nil {
		return err
	}
	v.slots.sharp = SlotOf(time.Now().Add(-SlotsKept + 24*time.Hour)) // a day for clocks that differ
	if kept.UnixMicro() <= 0 {
		v.slots.whole = true
		return nil
	}
	// Rows are dropped by when they ended: of an hour that begins later, none is missing.
	v.hoursFrom = ceiling(kept, time.Hour)
	v.slots.from = max(ceiling(kept, SlotLength), v.slots.sharp)
	v.report.HoursFrom, v.report.SlotsFrom = time.Unix(v.hoursFrom, 0), time.Unix(v.slots.from, 0)
	return nil
}

// ceiling is the first multiple of a unit that is no earlier.
func ceiling(t time.Time, unit time.Duration) int64 {
	seconds := int64(unit / time.Second)
	return floor(t.Add(unit-1).Unix(), seconds)
}

// The bounds of all time, as far as an ID can tell.
var (
	dawn = time.Unix(0, 0)
	dusk = time.UnixMicro(1<<53 - 1)
)

// walk goes through all time: from hour to hour where there are sums, and in one step through what lies between, where there
// should be next to nothing.
func (v *verifier) walk(ctx context.Context) error {
	starts := map[int64]bool{}
	var all Sums
	err := v.Hours(ctx, HourQuery{From: dawn, To: dusk, Hour: true}, func(h Hour, s Sums) error {
		starts[h.Start] = true
		all.Add(s)
		return nil
	})
	if err != nil {
		return err
	}
	hours := slices.Sorted(maps.Keys(starts))
	if err := v.days(ctx, hours, all); err != nil {
		return err
	}
	at := dawn
	for _, start := range hours {
		if start < v.hoursFrom {
			continue
		}
		begin := time.Unix(start, 0)
		if err := v.stretch(ctx, at, begin); err != nil {
			return err
		}
		at = begin.Add(time.Hour)
		if err := v.stretch(ctx, begin, at); err != nil {
			return err
		}
		if v.options.Progress != nil {
			v.options.Progress(at, v.report.Exchanges)
		}
	}
	if err := v.stretch(ctx, at, dusk); err != nil {
		return err
	}
	return v.readSlots(ctx, dusk)
}

// Bounds of what is read at once.
const (
	mostRowsAtOnce = 50_000 // of an hour; beyond it, a quarter is
	mostSlotTime   = 24 * time.Hour
	mostSlots      = 500_000
)

// stretch compares what began in an interval with the sums of that time.
func (v *verifier) stretch(ctx context.Context, from, to time.Time) error {
	if !from.Before(to) {
		return nil
	}
	if err := v.openHours(ctx, from, to); err != nil {
		return err
	}
	step := to.Sub(from)
	if v.hours.requests() > mostRowsAtOnce {
		step = SlotLength
	}
	for at := from; at.Before(to); at = at.Add(step) {
		if err := v.rows(ctx, at, at.Add(step)); err != nil {
			return err
		}
	}
	v.closeHours()
	if len(v.slots.should) > mostSlots || to.Sub(v.slots.read) >= mostSlotTime {
		return v.readSlots(ctx, to)
	}
	return nil
}

// rows reads the exchanges that began in an interval, each with its corrections.
func (v *verifier) rows(ctx context.Context, from, to time.Time) error {
	corrections := map[ID][]Correction{}
	err := v.Corrections(ctx, from, to, func(c *Correction) error {
		corrections[c.Exchange] = append(corrections[c.Exchange], *c)
		return nil
	})
	if err != nil {
		return err
	}
	return v.Began(ctx, from, to, func(x *Exchange) error {
		v.exchange(x, corrections[x.Begin.Exchange])
		return nil
	})
}

// differs notes a difference.
func (v *verifier) differs(d Difference) {
	if len(v.report.Differences) >= v.options.MostDifferences {
		v.report.Further++
		return
	}
	v.report.Differences = append(v.report.Differences, d)
}

// stray notes a row that belongs to nothing. A correction may come when the rows of its exchange were dropped already.
func (v *verifier) stray(s Stray) {
	if s.Row == "correction" && s.Exchange.Time().Before(v.kept) {
		return
	}
	kind := map[string]Kind{"end": EndWithoutBegin, "draw": DrawWithoutBegin, "correction": CorrectionOfNoEnd}[s.Row]
	v.differs(Difference{Kind: kind, Exchange: s.Exchange, At: s.Exchange.Time()})
}
