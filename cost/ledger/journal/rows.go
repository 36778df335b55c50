package journal

import (
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// batch is all rows of a batch that a journal keeps. What is only sums, refusals and rolls, is not.
func batch(c *codec, b *ledger.Batch) {
	list(c, &b.Prices, price)
	rows(c, &b.Begins, begin)
	rows(c, &b.Draws, draw)
	rows(c, &b.Ends, end)
	rows(c, &b.Corrections, correction)
	list(c, &b.Notices, notice)
	rows(c, &b.Owned, owned)
	rows(c, &b.Grown, growth)
}

func begin(c *codec, b *ledger.Begin) {
	integer(c, &b.Exchange)
	series(c, &b.Series)
	text(c, &b.Model)
	text(c, &b.Label)
	integer(c, &b.Retry)
	flag(c, &b.Stream)
	estimate(c, &b.Estimate)
	usage(c, &b.Most)
	integer(c, &b.Reserved)
	text(c, &b.Price)
	list(c, &b.Charges, charge)
}

func draw(c *codec, d *ledger.Draw) {
	integer(c, &d.Exchange)
	integer(c, &d.Step)
	usage(c, &d.More)
	integer(c, &d.Reserved)
	list(c, &d.Charges, charge)
}

func end(c *codec, e *ledger.End) {
	integer(c, &e.Exchange)
	integer(c, &e.Seq)
	integer(c, &e.Status)
	text(c, &e.Ending)
	text(c, &e.Basis)
	text(c, &e.Served)
	usage(c, &e.Usage)
	integer(c, &e.Cost)
	integer(c, &e.Took)
	integer(c, &e.FirstToken)
	text(c, &e.UpstreamID)
	list(c, &e.Charges, charge)
}

func correction(c *codec, r *ledger.Correction) {
	integer(c, &r.Exchange)
	integer(c, &r.Seq)
	series(c, &r.Series)
	text(c, &r.Model)
	text(c, &r.Served)
	text(c, &r.Label)
	text(c, &r.Basis)
	text(c, &r.Was)
	usage(c, &r.Usage)
	integer(c, &r.Cost)
	list(c, &r.Charges, charge)
	text(c, &r.Reason)
}

func price(c *codec, p *ledger.PriceCard) {
	text(c, &p.Version)
	text(c, &p.Card)
}

func notice(c *codec, n *ledger.Notice) {
	text(c, &n.Budget)
	integer(c, &n.Period)
	text(c, &n.At)
}

// owned has its instant to the microsecond, as the store has.
func owned(c *codec, o *ledger.Owned) {
	text(c, &o.ID)
	text(c, &o.Kind)
	text(c, &o.Key)
	text(c, &o.Upstream)
	text(c, &o.Of)
	made := o.Made.UnixMicro()
	integer(c, &made)
	if c.reading {
		o.Made = time.UnixMicro(made)
	}
	integer(c, &o.Tokens)
}

func growth(c *codec, g *ledger.Growth) {
	text(c, &g.ID)
	integer(c, &g.Tokens)
	flag(c, &g.Gone)
}

func series(c *codec, s *ledger.Series) {
	text(c, &s.Key)
	text(c, &s.Groups)
	text(c, &s.Endpoint)
	text(c, &s.Upstream)
}

func charge(c *codec, h *ledger.Charge) {
	text(c, &h.Budget.Name)
	text(c, &h.Budget.Unit)
	integer(c, &h.N)
	integer(c, &h.Late)
}

func estimate(c *codec, e *cost.Estimate) {
	integer(c, &e.Input)
	integer(c, &e.MaxOutput)
	integer(c, &e.Beyond)
	integer(c, &e.Basis)
	for i := range e.ByPart {
		integer(c, &e.ByPart[i])
		integer(c, &e.BasisOf[i])
	}
	integer(c, &e.Pictures)
	integer(c, &e.Milliseconds)
	integer(c, &e.Characters)
	integer(c, &e.HostedCalls)
	integer(c, &e.HostedFee)
	integer(c, &e.HostedTokens)
	integer(c, &e.Fees)
}

func usage(c *codec, u *cost.Usage) {
	integer(c, &u.Input)
	integer(c, &u.CachedInput)
	integer(c, &u.CacheWrite)
	integer(c, &u.AudioInput)
	integer(c, &u.ImageInput)
	integer(c, &u.CachedAudio)
	integer(c, &u.CachedImage)
	integer(c, &u.Output)
	integer(c, &u.Reasoning)
	integer(c, &u.AudioOutput)
	integer(c, &u.ImageOutput)
	integer(c, &u.Images)
	integer(c, &u.Milliseconds)
	integer(c, &u.Characters)
	integer(c, &u.Fees)
	integer(c, &u.Tier)
}
