package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// revision says what one call is to be charged from now on. It is also what POST /ledger/corrections takes, and a line of a
// file of corrections. Exactly one of Charge, Cost and Usage is given, but that Cost may stand beside Usage.
type revision struct {
	ID     string        `json:"id"`
	Was    string        `json:"was,omitempty"`      // what the charge must rest on until now; empty: anything
	Charge string        `json:"charge,omitempty"`   // "nothing", or "counted": the prompt, and no output
	Cost   *string       `json:"cost_usd,omitempty"` // "0.12"
	Usage  *usageFigures `json:"usage,omitempty"`
}

// usageFigures are what an upstream says was used. Tokens that are not given are none; other units that are not given stay.
type usageFigures struct {
	Input        int64  `json:"input_tokens"`
	CachedInput  int64  `json:"cached_input_tokens,omitempty"`
	CacheWrite   int64  `json:"cache_write_tokens,omitempty"`
	Output       int64  `json:"output_tokens"`
	Reasoning    int64  `json:"reasoning_tokens,omitempty"`
	Images       *int64 `json:"images,omitempty"`
	Milliseconds *int64 `json:"audio_milliseconds,omitempty"`
	Characters   *int64 `json:"characters,omitempty"`
}

// Values of a revision's Charge.
const (
	chargeNothing = "nothing"
	chargeCounted = "counted"
)

// errRevision says that a revision makes no sense; errConflict, that the call is not as it was thought to be.
var (
	errRevision = errors.New("this is no correction")
	errConflict = errors.New("the ledger has changed meanwhile")
	errNoCall   = errors.New("the ledger has no such call")
)

// check reports what is wrong with a revision by itself, and returns whose it is.
func (r *revision) check() (ledger.ID, error) {
	id, err := ledger.ParseID(r.ID)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errRevision, err)
	}
	bad := func(format string, args ...any) (ledger.ID, error) {
		return 0, fmt.Errorf("%s: %w: %s", id, errRevision, fmt.Sprintf(format, args...))
	}
	switch {
	case r.Charge != "" && (r.Cost != nil || r.Usage != nil):
		return bad("give one of charge, cost_usd and usage")
	case r.Charge != "" && r.Charge != chargeNothing && r.Charge != chargeCounted:
		return bad("charge is %q; it can be nothing or counted", r.Charge)
	case r.Charge == "" && r.Cost == nil && r.Usage == nil:
		return bad("say what to charge: charge, cost_usd or usage")
	}
	if r.Cost != nil {
		if _, err := cost.ParseUSD(*r.Cost); err != nil {
			return bad("%v", err)
		}
	}
	if r.Usage != nil {
		if u := r.Usage.over(cost.Usage{}); u != u.Normal() {
			return bad("no figure of a usage is negative, and no part is more than its whole: cached and written input are parts of input, reasoning is one of output")
		}
	}
	return id, nil
}

// over returns the figures as a usage; units that they leave open are those of another.
func (f *usageFigures) over(u cost.Usage) cost.Usage {
	out := cost.Usage{
		Input: f.Input, CachedInput: f.CachedInput, CacheWrite: f.CacheWrite, Output: f.Output, Reasoning: f.Reasoning,
		Images: u.Images, Milliseconds: u.Milliseconds, Characters: u.Characters, Fees: u.Fees, Tier: u.Tier,
	}
	for to, from := range map[*int64]*int64{&out.Images: f.Images, &out.Milliseconds: f.Milliseconds, &out.Characters: f.Characters} {
		if from != nil {
			*to = *from
		}
	}
	return out
}

// account is what the call is to be charged. The revision was checked.
func (r *revision) account(ctx context.Context, s ledger.Snapshot, x *ledger.Exchange, is ledger.Account) (to ledger.Account, err error) {
	most := x.Begin.Most // of what is not billed by token, no report says how much there was
	most.Tier = is.Usage.Tier
	switch {
	case r.Charge == chargeNothing:
		return ledger.Account{Basis: ledger.Nothing}, nil
	case r.Charge == chargeCounted:
		to.Basis, to.Usage = ledger.Counted, most
		to.Usage.Output, to.Usage.Images = 0, 0
	case r.Usage != nil && is.Basis == ledger.Nothing:
		to.Basis, to.Usage = ledger.Reported, r.Usage.over(most)
	case r.Usage != nil:
		to.Basis, to.Usage = ledger.Reported, r.Usage.over(is.Usage)
	default:
		to.Usage = is.Usage
	}
	if r.Cost != nil {
		to.Basis = ledger.Corrected
		to.Cost, err = cost.ParseUSD(*r.Cost)
		return to, err
	}
	to.Cost, err = costOf(ctx, s, x, to.Usage)
	return to, err
}

// costOf is what a usage costs at the price that the call's begin row names.
func costOf(ctx context.Context, s ledger.Snapshot, x *ledger.Exchange, u cost.Usage) (cost.NanoUSD, error) {
	version := x.Begin.Price
	if version == "" {
		return 0, nil // the model had no price, and cost nothing that was known
	}
	card, err := s.Price(ctx, version)
	if err != nil {
		return 0, err
	}
	var price cost.Price
	if card == "" {
		return 0, fmt.Errorf("%s: the price of its time, %s, is not in the ledger: say what it cost, too", x.Begin.Exchange, version)
	}
	if err := json.Unmarshal([]byte(card), &price); err != nil {
		return 0, fmt.Errorf("%s: read the price of its time: %w", x.Begin.Exchange, err)
	}
	return price.Cost(u), nil
}

// revised is a call with what a revision makes of it.
type revised struct {
	*ledger.Exchange
	is, to     ledger.Account
	correction *ledger.Correction // nil: it is charged so already
}

// revise works out what a revision changes.
func revise(ctx context.Context, s ledger.Snapshot, r *revision, reason string) (*revised, error) {
	id, err := r.check()
	if err != nil {
		return nil, err
	}
	x, err := s.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	if x == nil {
		return nil, missing(ctx, s, id)
	}
	var before []ledger.Correction
	at := id.Time()
	err = s.Corrections(ctx, at, at.Add(1000), func(c *ledger.Correction) error { // ids have microseconds
		if c.Exchange == id {
			before = append(before, *c)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r.apply(ctx, s, x, before, reason)
}

// apply is revise for a call that was read.
func (r *revision) apply(ctx context.Context, s ledger.Snapshot, x *ledger.Exchange, before []ledger.Correction, reason string) (*revised, error) {
	if x.End == nil {
		return nil, fmt.Errorf("%s: %w: correct it when it has, or after the next start if its proxy has crashed", x.Begin.Exchange, ledger.ErrNotEnded)
	}
	out := &revised{Exchange: x, is: x.Account(before)}
	if r.Was != "" && r.Was != out.is.Basis {
		return nil, fmt.Errorf("%s: %w: its charge was to be %s, and is %s", x.Begin.Exchange, errConflict, r.Was, out.is.Basis)
	}
	var err error
	if out.to, err = r.account(ctx, s, x, out.is); err != nil {
		return nil, err
	}
	out.correction, err = x.Correct(before, out.to, reason)
	return out, err
}

// missing says why there is no call of that id.
func missing(ctx context.Context, s ledger.Snapshot, id ledger.ID) error {
	kept, err := s.Kept(ctx)
	switch {
	case err != nil:
		return err
	case id.Time().Before(kept):
		return fmt.Errorf("%s: %w any more: rows are kept since %s", id, errNoCall, kept.UTC().Format("2006-01-02 15:04 UTC"))
	default:
		return fmt.Errorf("%s: %w; look whether it is the ledger of the proxy that gave the id, and whether the call was refused: those are only counted", id, errNoCall)
	}
}
