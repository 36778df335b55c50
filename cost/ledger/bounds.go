package ledger

import (
	"strings"

	"github.com/tokenfare/tokenfare/cost"
)

// mostFigure bounds every figure of a row, so that sums of rows stay within 64 bits: one that does not would make a batch
// that can never be written. It is a million dollars for one call, and more tokens than any has.
const mostFigure = 1 << 50

// mostText bounds every text of a row, in bytes.
const mostText = 256

func bounded[T ~int64](n T) T { return min(max(n, -mostFigure), mostFigure) }

// clean makes a text one that every database takes, of bounded length, also as a key.
func clean(s string) string {
	if len(s) > mostText {
		s = s[:mostText]
	}
	return valid(s)
}

// valid makes a text one that every database takes.
func valid(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

func boundedUsage(u cost.Usage) cost.Usage {
	for _, n := range figures(&u) {
		*n = bounded(*n)
	}
	return u
}

// figures are all that a usage counts.
func figures(u *cost.Usage) [15]*int64 {
	return [...]*int64{
		&u.Input, &u.CachedInput, &u.CacheWrite, &u.AudioInput, &u.ImageInput, &u.CachedAudio, &u.CachedImage,
		&u.Output, &u.Reasoning, &u.AudioOutput, &u.ImageOutput, &u.Images, &u.Milliseconds, &u.Characters, (*int64)(&u.Fees),
	}
}

func boundCharges(list []Charge) {
	for i := range list {
		c := &list[i]
		c.Budget = Budget{clean(c.Budget.Name), clean(c.Budget.Unit)}
		c.N, c.Late = bounded(c.N), bounded(c.Late)
	}
}

func (s Series) clean() Series {
	groups := s.Groups // of the configuration, and there may be many
	return Series{clean(s.Key), valid(groups), clean(s.Endpoint), clean(s.Upstream)}
}

func (b *Begin) bound() {
	b.Series, b.Model, b.Label, b.Price = b.Series.clean(), clean(b.Model), clean(b.Label), clean(b.Price)
	b.Most, b.Reserved = boundedUsage(b.Most), bounded(b.Reserved)
	b.Estimate.MaxOutput = bounded(b.Estimate.MaxOutput)
	for p := range b.Estimate.ByPart {
		b.Estimate.ByPart[p] = bounded(b.Estimate.ByPart[p])
	}
	boundCharges(b.Charges)
}

func (d *Draw) bound() {
	d.More, d.Reserved = boundedUsage(d.More), bounded(d.Reserved)
	boundCharges(d.Charges)
}

func (e *End) bound() {
	e.Ending, e.Basis, e.Served, e.UpstreamID = clean(e.Ending), clean(e.Basis), clean(e.Served), clean(e.UpstreamID)
	e.Usage, e.Cost = boundedUsage(e.Usage), bounded(e.Cost)
	boundCharges(e.Charges)
}

func (c *Correction) bound() {
	c.Series, c.Model, c.Served, c.Label = c.Series.clean(), clean(c.Model), clean(c.Served), clean(c.Label)
	c.Was, c.Basis, c.Reason = clean(c.Was), clean(c.Basis), clean(c.Reason)
	c.Usage, c.Cost = boundedUsage(c.Usage), bounded(c.Cost)
	boundCharges(c.Charges)
}
