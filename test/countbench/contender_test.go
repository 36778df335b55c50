package countbench

import (
	"sync"
	"testing"

	"github.com/tokenfare/tokenfare/test/countbench/contenders/tiktokengo"
	"github.com/tokenfare/tokenfare/test/countbench/contenders/tokenfare"
	"github.com/tokenfare/tokenfare/test/countbench/contenders/tokenizer"
)

// encodings are those that all contenders know and models in use have.
var encodings = []string{"o200k_base", "cl100k_base"}

// library makes a contender: what counts the tokens of a text.
type library struct {
	name string
	make func(encoding string) (func(text string) int, error)
}

// libraries are all contenders, ours first.
var libraries = []library{
	{"tokenfare", tokenfare.New},
	{"tiktoken-go", tiktokengo.New},
	{"tokenizer", tokenizer.New},
}

var made sync.Map // by library and encoding: making one takes up to seconds

// counter returns the library's counter for an encoding.
func (l library) counter(tb testing.TB, encoding string) func(text string) int {
	tb.Helper()
	key := l.name + " " + encoding
	if count, ok := made.Load(key); ok {
		return count.(func(string) int)
	}
	count, err := l.make(encoding)
	if err != nil {
		tb.Fatal(err)
	}
	made.Store(key, count)
	return count
}
