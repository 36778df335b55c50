package cost

import (
	"context"
	"fmt"
	"math"

	"github.com/tokenfare/tokenfare/cost/bpe"
)

// Counter counts the tokens of a text.
type Counter interface{ Count(text string) int64 }

// Estimator turns requests into estimates. It is safe for concurrent use. Vocabularies are read when they are first
// needed, once for the whole program, which takes some tens of milliseconds; Load does it beforehand. It remembers the counts
// of strings of a kilobyte and more, but not the strings.
type Estimator struct{ recall *recall }

// NewEstimator makes an estimator.
func NewEstimator() *Estimator { return &Estimator{recall: newRecall()} }

// Load reads the vocabulary of an encoding, so that the first request need not wait for it. An unknown name is an error.
func (e *Estimator) Load(encoding string) error {
	if _, err := bpe.New(encoding); err != nil {
		return fmt.Errorf("prepare to count tokens: %w", err)
	}
	return nil
}

// Count is the number of tokens of text for m: exact if m.KnownEncoding, else an estimate, by m.Ratio. It never fails: an encoding
// that is unknown counts as o200k_base.
func (e *Estimator) Count(m Model, text string) int64 {
	return m.Ratio.Of(e.counter(context.Background(), m.Encoding).Count(text))
}

func (e *Estimator) counter(ctx context.Context, encoding string) *counter {
	enc, err := bpe.New(encoding)
	if err != nil {
		enc, err = bpe.New(defaultEncoding)
	}
	if err != nil {
		panic("BUG: cost: the default encoding is unknown: " + err.Error())
	}
	return &counter{ctx: ctx, left: math.MaxInt64, recall: e.recall, encoding: enc}
}

// counter counts with one vocabulary, and remembers, until its context has ended or there are too many tokens.
type counter struct {
	ctx      context.Context
	err      error // of the context: what was counted since is worth nothing
	left     int64 // how many more tokens are not too many; negative: there are too many
	recall   *recall
	encoding *bpe.Encoding
}

// larger is the larger of two counts, of which only that uses up what is left.
func (c *counter) larger(one, other func() int64) int64 {
	left := c.left
	n := one()
	if c.left < 0 {
		return n
	}
	c.left = left
	n = max(n, other())
	c.left = min(c.left, left-n)
	return n
}

// goOn counts whatever follows to its end, unless there is too much already.
func (c *counter) goOn() {
	if c.left >= 0 {
		c.left = math.MaxInt64
	}
}

func (c *counter) Count(text string) (n int64) {
	if c.err == nil && c.left >= 0 {
		n, c.err = c.recall.count(c.ctx, c.encoding, text, c.left)
		c.left -= n
	}
	return n
}
