package cost

import (
	"fmt"

	"github.com/tokenfare/tokenfare/cost/bpe"
)

// Counter counts the tokens of a text.
type Counter interface{ Count(text string) int64 }

// Estimator turns requests into estimates. It is safe for concurrent use. Vocabularies are read when they are first
// needed, once for the whole program, which takes some tenths of a second; Load does it beforehand.
type Estimator struct{}

// NewEstimator makes an estimator.
func NewEstimator() *Estimator { return &Estimator{} }

// Load reads the vocabulary of an encoding, so that the first request need not wait for it. An unknown name is an error.
func (e *Estimator) Load(encoding string) error {
	if _, err := bpe.New(encoding); err != nil {
		return fmt.Errorf("prepare to count tokens: %w", err)
	}
	return nil
}

// Count is the number of tokens of text for m: exact if m.KnownEncoding, else an estimate. It never fails: an encoding
// that is unknown counts as o200k_base.
func (e *Estimator) Count(m Model, text string) int64 {
	return e.counter(m.Encoding).Count(text)
}

func (e *Estimator) counter(encoding string) Counter {
	for _, name := range []string{encoding, defaultEncoding} {
		if enc, err := bpe.New(name); err == nil {
			return enc
		}
	}
	return byteCounter{}
}

// byteCounter is for the case that no vocabulary can be read: a token has at least one byte, so it never counts too few.
type byteCounter struct{}

func (byteCounter) Count(text string) int64 { return int64(len(text)) }
