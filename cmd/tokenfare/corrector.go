package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// corrector adds corrections to a ledger that this process writes. It is safe for concurrent use.
type corrector struct {
	store  ledger.Store
	writer *ledger.Writer
	live   func() (amendment, error) // of what budgets have counted; nil: nobody counts

	mu   sync.Mutex         // one at a time: each is worked out from what those before have left
	last *ledger.Correction // the newest one that may not be in the ledger yet; guarded by mu
}

// shared is a store that several processes may correct, one at a time.
type shared interface {
	Alone(ctx context.Context) (release func(), err error)
}

// amendment changes what the budgets of a running proxy have counted, see [proxy.Amendment].
type amendment interface {
	Read(ctx context.Context, s ledger.Snapshot, list []*ledger.Correction) error
	Apply() error
}

// corrections is what POST /ledger/corrections takes: all of them are made, or none.
type corrections struct {
	Reason      string     `json:"reason"`
	Corrections []revision `json:"corrections"`
}

// corrected is what was made.
type corrected struct {
	Corrected []correctedCall `json:"corrected"`
	Unchanged []string        `json:"unchanged"` // ids of calls that are charged so already
}

// correctedCall is one call of it.
type correctedCall struct {
	ID     string `json:"id"`
	Was    string `json:"was"`
	Basis  string `json:"basis"`
	Change int64  `json:"cost_change_nano_usd"`
}

// mostCorrections is how many are made at once.
const mostCorrections = 1000

// longestReason is as much of a reason as the ledger keeps, in bytes.
const longestReason = 256

// errUnsure says that corrections wait for the ledger.
var errUnsure = errors.New("corrections made before are not in the ledger yet; try again in a moment")

func (c *corrections) check() error {
	switch n := len(c.Corrections); {
	case c.Reason == "":
		return fmt.Errorf("%w: give a reason: it is kept with the correction", errRevision)
	case len(c.Reason) > longestReason:
		return fmt.Errorf("%w: the reason is longer than %d bytes", errRevision, longestReason)
	case n == 0:
		return fmt.Errorf("%w: name the calls to correct", errRevision)
	case n > mostCorrections:
		return fmt.Errorf("%w: %d at once are too many; make at most %d, then the others", errRevision, n, mostCorrections)
	}
	seen := map[string]bool{}
	for _, r := range c.Corrections {
		if seen[r.ID] {
			return fmt.Errorf("%s: %w: it is named twice", printable(r.ID), errRevision)
		}
		seen[r.ID] = true
	}
	return nil
}

// correct makes corrections, and returns when they are durable. What the budgets of a running proxy have counted changes with
// them. An error that matches [ledger.ErrUnavailable] leaves open whether they will be; all others mean that nothing changes.
func (c *corrector) correct(ctx context.Context, asked corrections) (*corrected, error) {
	if err := asked.check(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.writer.Err(); err != nil {
		return nil, err
	}
	release, err := c.alone(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { release() }()
	var budgets amendment
	if c.live != nil {
		if budgets, err = c.live(); err != nil {
			return nil, err
		}
		// What has ended is to be in the ledger: calls that seem to run would count in full.
		if err := c.writer.Correct(nil).Stored(ctx); err != nil {
			return nil, err
		}
	}
	out := &corrected{Corrected: []correctedCall{}, Unchanged: []string{}}
	list, err := c.workOut(ctx, asked, budgets, out)
	if err != nil || len(list) == 0 {
		return out, err
	}
	ticket := c.writer.Correct(list)
	c.last = list[len(list)-1]
	if budgets != nil {
		// At once: rows that are queued will be in the ledger, unless this process ends, and its budgets with it.
		err = budgets.Apply()
	}
	unsure := ticket.Stored(ctx)
	if unsure != nil {
		// Others are to see these before they make more.
		free := release
		release = func() {}
		go func() {
			for ticket.Stored(context.WithoutCancel(ctx)) != nil {
			}
			free()
		}()
	}
	return out, errors.Join(err, unsure)
}

// alone keeps other processes from correcting, until the release.
func (c *corrector) alone(ctx context.Context) (release func(), err error) {
	if s, ok := c.store.(shared); ok {
		return s.Alone(ctx)
	}
	return func() {}, nil
}

// pause keeps corrections from being made until it is called off: whoever reads the ledger and then counts on from there would
// miss what comes in between. A nil corrector makes none.
func (c *corrector) pause() (goOn func()) {
	if c == nil {
		return func() {}
	}
	c.mu.Lock()
	return c.mu.Unlock
}

// workOut makes the rows, and has budgets read what they come to.
func (c *corrector) workOut(ctx context.Context, asked corrections, budgets amendment, out *corrected) ([]*ledger.Correction, error) {
	s, err := c.store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := c.caughtUpLocked(ctx, s); err != nil {
		return nil, err
	}
	var list []*ledger.Correction
	for i := range asked.Corrections {
		one, err := revise(ctx, s, &asked.Corrections[i], asked.Reason)
		switch {
		case err != nil:
			return nil, err
		case one.correction == nil:
			out.Unchanged = append(out.Unchanged, one.Begin.Exchange.String())
			continue
		}
		list = append(list, one.correction)
		out.Corrected = append(out.Corrected, correctedCall{
			ID: one.Begin.Exchange.String(), Was: one.is.Basis, Basis: one.to.Basis, Change: int64(one.correction.Cost),
		})
	}
	if budgets != nil && len(list) > 0 {
		if err := budgets.Read(ctx, s, list); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// caughtUpLocked makes sure that the corrections made before can be seen: who does not would make them again.
func (c *corrector) caughtUpLocked(ctx context.Context, s ledger.Snapshot) error {
	if c.last == nil {
		return nil
	}
	id, found := c.last.Exchange, false
	at := id.Time()
	err := s.Corrections(ctx, at, at.Add(1000), func(one *ledger.Correction) error {
		found = found || one.Seq == c.last.Seq
		return nil
	})
	if err != nil {
		return err
	}
	if !found {
		if x, err := s.Find(ctx, id); err != nil || x != nil {
			return errors.Join(errUnsure, err) // unless its rows were dropped meanwhile
		}
	}
	c.last = nil
	return nil
}

// change is what corrections change in money.
func (c *corrected) change() (sum cost.NanoUSD) {
	for _, one := range c.Corrected {
		sum += cost.NanoUSD(one.Change)
	}
	return sum
}
