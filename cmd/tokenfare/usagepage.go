package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// usageReading is the command when it is known what to read.
type usageReading struct {
	*usageCommand
	store ledger.Store
	zone  *time.Location
	by    by
	whole *Config // nil: budgets are not shown
}

// loadLedgerConfig reads of a configuration what says where its ledger is and where its days begin.
func loadLedgerConfig(path string) (*Config, error) {
	var out problems
	c := defaultConfig()
	c.root = readSource(path, 0, &out)
	d := c.decoder(c.root, &out)
	if v := child(c.root.root, "timezone"); v != nil {
		c.decodeZone(d, v)
	}
	if v := child(c.root.root, "ledger"); v != nil {
		c.decodeLedger(d, v)
	}
	c.ledgerDefaults(d)
	return c, out.err()
}

// page is what is printed, with at most so many lines besides the total; 0: all.
func (u *usageReading) page(ctx context.Context, most int) (string, error) {
	now := u.now()
	span, err := spanOf(u.since, u.until, now, u.zone)
	if err != nil {
		return "", err
	}
	s, err := u.store.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	defer s.Close()
	q := usageQuery{span: span, by: u.by, keys: u.keys}
	if u.whole != nil {
		pools := u.whole.pools()
		q.groupsOf = func(key string) (names []string) {
			for _, g := range pools.of(key) {
				names = append(names, g.Name)
			}
			return names
		}
	}
	report, err := q.read(ctx, s)
	if err != nil {
		return "", err
	}
	t := usageTable{usageReport: report, most: most}
	if u.whole != nil && !u.csv && !report.empty() {
		if t.budgets, err = u.left(ctx, u.whole, s); err != nil {
			return "", fmt.Errorf("work out what budgets have left: %w", err)
		}
	}
	switch {
	case u.json:
		return t.json(), nil
	case u.csv:
		return t.csv(), nil
	case report.empty():
		return u.nothing(ctx, s, report)
	}
	u.mention(report)
	return t.String(), nil
}

// mention says which of the keys that were asked for there is nothing of.
func (u *usageReading) mention(r *usageReport) {
	for _, k := range u.keys {
		if r.called[k] == nil {
			fmt.Fprintf(u.stderr, "tokenfare usage: there is nothing of key %s in that time%s\n", k, u.meant(k, r))
		}
	}
}

// meant proposes another key, if one has nearly that name.
func (u *usageReading) meant(key string, r *usageReport) string {
	known := slices.Collect(maps.Keys(r.called))
	if u.whole != nil {
		for _, k := range u.whole.Keys {
			known = append(known, k.Name)
		}
	}
	if best := nearest(key, known); best != "" && !slices.Contains(known, key) {
		return ": did you mean " + best + "?"
	}
	return ""
}

// nothing is the page when there is nothing to report: it says where there would be something.
func (u *usageReading) nothing(ctx context.Context, s ledger.Snapshot, r *usageReport) (string, error) {
	var out strings.Builder
	fmt.Fprint(&out, "no exchanges")
	if len(u.keys) > 0 {
		fmt.Fprintf(&out, " of key %s", strings.Join(u.keys, ", "))
	}
	fmt.Fprintf(&out, " since %s", stamp(r.from))
	if !r.open {
		fmt.Fprintf(&out, " until %s", stamp(r.to))
	}
	fmt.Fprintf(&out, ", %s\n", u.zone)
	newest := int64(-1)
	q := ledger.HourQuery{From: time.Unix(0, 0), To: u.now().Add(2 * time.Hour), Day: u.zone, Series: len(u.keys) > 0}
	err := s.Hours(ctx, q, func(h ledger.Hour, _ ledger.Sums) error {
		if r.wanted(h.Series.Key) {
			newest = max(newest, h.Start)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	switch from, _ := r.hours(); {
	case newest < 0 && len(u.keys) > 0:
		for _, k := range u.keys {
			fmt.Fprintf(&out, "The ledger has nothing at all of key %s%s\n", k, u.meant(k, r))
		}
	case newest < 0:
		fmt.Fprintln(&out, "The ledger is empty: `tokenfare serve` records in it what passes through. Is it the ledger of that proxy?")
	case newest < from.Unix():
		fmt.Fprintf(&out, "The newest are of %s: try -since %s\n", dayOf(newest, u.zone), dayOf(newest, u.zone))
	default:
		fmt.Fprintf(&out, "The newest are of %s: try a later -until, or none\n", dayOf(newest, u.zone))
	}
	return out.String(), nil
}
