// Package tokenfare is this repository's counter as a contender.
package tokenfare

import "github.com/tokenfare/tokenfare/cost/bpe"

// New returns what counts the tokens of a text.
func New(encoding string) (func(text string) int, error) {
	enc, err := bpe.New(encoding)
	if err != nil {
		return nil, err
	}
	return func(text string) int { return int(enc.Count(text)) }, nil
}
