// Package tokenizer is github.com/tiktoken-go/tokenizer as a contender.
package tokenizer

import "github.com/tiktoken-go/tokenizer"

// New returns what counts the tokens of a text.
func New(encoding string) (func(text string) int, error) {
	codec, err := tokenizer.Get(tokenizer.Encoding(encoding))
	if err != nil {
		return nil, err
	}
	return func(text string) int {
		n, err := codec.Count(text)
		if err != nil {
			panic(err) // its pattern cannot fail on text of ours
		}
		return n
	}, nil
}
