package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

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
	if len(s) > 4*mostText { // as much as can be left of it
		s = s[:4*mostText]
	}
	return cut(valid(s), mostText)
}

// valid makes a text one that every database takes.
func valid(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// cut is the beginning of a valid text, at most that many bytes, cut between characters.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// BudgetName is the name by which a ledger knows a budget: its own, but for one that no database would take, or that is longer
// than 256 bytes. Those that begin alike stay apart.
func BudgetName(name string) string {
	name = valid(name)
	if len(name) <= mostText {
		return name
	}
	hash := sha256.Sum256([]byte(name))
	end := "…" + hex.EncodeToString(hash[:8])
	return cut(name, mostText-len(end)) + end
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
		c.Budget = Budget{BudgetName(c.Budget.Name), clean(c.Budget.Unit)}
		c.N, c.Late = bounded(c.N), bounded(c.Late)
	}
}

func (s Series) clean() Series {
	return Series{clean(s.Key), valid(s.Groups), clean(s.Endpoint), clean(s.Upstream)} // of groups there may be many
}

func (b *Begin) bound() {
	b.Series, b.Model, b.Label, b.Price = b.Series.clean(), clean(b.Model), clean(b.Label), clean(b.Price)
	b.Most, b.Reserved = boundedUsage(b.Most), bounded(b.Reserved)
	e := &b.Estimate
	for _, n := range []*int64{&e.Input, &e.MaxOutput, &e.Beyond, &e.Pictures, &e.Milliseconds, &e.Characters, &e.HostedCalls, &e.HostedTokens} {
		*n = bounded(*n)
	}
	e.HostedFee, e.Fees = bounded(e.HostedFee), bounded(e.Fees)
	for p := range e.ByPart {
		e.ByPart[p] = bounded(e.ByPart[p])
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
