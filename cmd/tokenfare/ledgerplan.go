package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// plan is what corrections would change.
type plan struct {
	calls     []plannedCall
	unchanged int // calls that are charged so already
	running   int // calls in the interval that have not ended
	budgets   map[ledger.Budget]int64
	change    cost.NanoUSD
}

// plannedCall is one call that would be charged otherwise.
type plannedCall struct {
	revision
	began    time.Time
	key      string
	model    string
	is, to   cost.NanoUSD
	becoming string // the basis
}

// mostPlanned bounds how many calls one command corrects.
const mostPlanned = 100_000

// errMisuse says that the command line is wrong, which shows only once more is known.
var errMisuse = errors.New("misuse")

func exitCode(err error) int {
	if errors.Is(err, errMisuse) {
		return 2
	}
	return 1
}

// plan works out what would change, from a ledger as it is now.
func (c *correction) plan(ctx context.Context, store ledger.Store, zone *time.Location, figure revision) (*plan, error) {
	s, err := store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	p := &plan{budgets: map[ledger.Budget]int64{}}
	if c.unreported {
		return p, c.planUnreported(ctx, s, p, zone, figure)
	}
	revisions, err := c.revisions(figure)
	if err != nil {
		return nil, err
	}
	for i := range revisions {
		one, err := revise(ctx, s, &revisions[i], c.reason)
		if err != nil {
			return nil, err
		}
		if err := p.add(one, revisions[i]); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// revisions are those of the calls that are named.
func (c *correction) revisions(figure revision) ([]revision, error) {
	if c.file != "" {
		return c.readFile()
	}
	var list []revision
	for _, id := range c.ids {
		figure.ID = id
		list = append(list, figure)
	}
	return list, nil
}

// readFile reads the file, or what comes from a pipe.
func (c *correction) readFile() ([]revision, error) {
	in := io.Reader(os.Stdin)
	if c.file != "-" {
		file, err := os.Open(c.file)
		if err != nil {
			return nil, fmt.Errorf("read -file: %w", err)
		}
		defer file.Close()
		in = file
	}
	return readRevisions(in, c.file)
}

// readRevisions reads a revision from each line that is not empty. name is the file's, for messages.
func readRevisions(in io.Reader, name string) ([]revision, error) {
	var list []revision
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var r revision
		err := decodeOne(line, &r)
		if err == nil {
			_, err = r.check()
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s, line %d: %w", errMisuse, name, n, err)
		}
		if list = append(list, r); len(list) > mostPlanned {
			return nil, fmt.Errorf("%w: %s has more than %s lines: split it", errMisuse, name, thousands(mostPlanned))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return list, nil
}

// planUnreported finds the calls of an interval of which nobody knows what they used.
func (c *correction) planUnreported(ctx context.Context, s ledger.Snapshot, p *plan, zone *time.Location, figure revision) error {
	now := c.now()
	from, err := momentOf(c.since, now, zone)
	if err != nil {
		return fmt.Errorf("%w: -since: %w", errMisuse, err)
	}
	upto := now
	if c.until != "" {
		if upto, err = momentOf(c.until, now, zone); err != nil {
			return fmt.Errorf("%w: -until: %w", errMisuse, err)
		}
	}
	if !from.Before(upto) {
		return fmt.Errorf("%w: -until, %s, is not after -since, %s", errMisuse, instantText(upto, zone), instantText(from, zone))
	}
	for at := from; at.Before(upto); at = at.Add(time.Hour) { // so that memory does not hang on how long the interval is
		end := at.Add(time.Hour)
		if upto.Before(end) {
			end = upto
		}
		if err := c.planHour(ctx, s, p, at, end, figure); err != nil {
			return err
		}
	}
	return nil
}

func (c *correction) planHour(ctx context.Context, s ledger.Snapshot, p *plan, from, to time.Time, figure revision) error {
	before := map[ledger.ID][]ledger.Correction{}
	err := s.Corrections(ctx, from, to, func(one *ledger.Correction) error {
		before[one.Exchange] = append(before[one.Exchange], *one)
		return nil
	})
	if err != nil {
		return err
	}
	var found []*ledger.Exchange
	err = s.Began(ctx, from, to, func(x *ledger.Exchange) error {
		switch {
		case !c.wants(x):
		case x.End == nil:
			p.running++
		case unknown(x.Account(before[x.Begin.Exchange])):
			found = append(found, x)
		}
		return nil
	})
	for _, x := range found {
		if err != nil {
			return err
		}
		figure.ID = x.Begin.Exchange.String()
		var one *revised
		if one, err = figure.apply(ctx, s, x, before[x.Begin.Exchange], c.reason); err == nil {
			err = p.add(one, figure)
		}
	}
	return err
}

// unknown reports whether a charge is one that usage marks with ^: no report, or none that can be true, says what was used.
func unknown(a ledger.Account) bool {
	return a.Basis == ledger.Unreported || a.Basis == ledger.Distrusted
}

// wants reports whether a call is among those that were asked for, however it was charged.
func (c *correction) wants(x *ledger.Exchange) bool {
	b := &x.Begin
	return (c.key == "" || c.key == b.Series.Key) && (c.upstream == "" || c.upstream == b.Series.Upstream) &&
		(c.model == "" || limit.Glob(c.model, b.Model)) && (c.ending == "" || x.End == nil || c.ending == x.End.Ending)
}

// add adds a call to the plan.
func (p *plan) add(one *revised, r revision) error {
	if one.correction == nil {
		p.unchanged++
		return nil
	}
	if len(p.calls) == mostPlanned {
		return fmt.Errorf("%w: there are more than %s calls to correct: choose a shorter interval, and do it in several", errMisuse, thousands(mostPlanned))
	}
	r.Was = one.is.Basis // so that it is not done to a call that somebody else corrects meanwhile
	p.calls = append(p.calls, plannedCall{
		revision: r, began: one.Begin.Exchange.Time(), key: one.Begin.Series.Key, model: one.Begin.Model,
		is: one.is.Cost, to: one.to.Cost, becoming: one.to.Basis,
	})
	p.change += one.correction.Cost
	for _, c := range one.correction.Charges {
		p.budgets[c.Budget] += c.N
	}
	return nil
}

// parts are the requests by which the plan is carried out.
func (p *plan) parts(reason string) (list []corrections) {
	for i := 0; i < len(p.calls); i += mostCorrections {
		part := corrections{Reason: reason}
		for _, call := range p.calls[i:min(i+mostCorrections, len(p.calls))] {
			part.Corrections = append(part.Corrections, call.revision)
		}
		list = append(list, part)
	}
	return list
}
