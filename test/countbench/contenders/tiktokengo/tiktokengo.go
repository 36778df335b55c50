// Package tiktokengo is github.com/pkoukk/tiktoken-go as a contender, with the
// vocabularies of its offline loader.
package tiktokengo

import (
	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// New returns what counts the tokens of a text. It has no way to count but to
// encode.
func New(encoding string) (func(text string) int, error) {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	enc, err := tiktoken.GetEncoding(encoding)
	if err != nil {
		return nil, err
	}
	return func(text string) int { return len(enc.EncodeOrdinary(text)) }, nil
}
