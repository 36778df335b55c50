package bpe

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// Encoding counts the tokens of one vocabulary. It never changes and is safe for concurrent use.
type Encoding struct {
	name   string
	engine *tiktoken.Tiktoken
}

// New returns the encoding called name: o200k_base, cl100k_base, p50k_base or r50k_base. The first call for a name
// reads its vocabulary, which takes some tenths of a second and tens of megabytes; later calls return the same value.
// Any other name is an error.
func New(name string) (*Encoding, error) {
	load, ok := encodings[name]
	if !ok {
		return nil, fmt.Errorf("token encoding %q is unknown: use one of %s", name, strings.Join(Names(), ", "))
	}
	return load()
}

// Names lists the encodings that New knows, sorted.
func Names() []string { return slices.Clone(names) }

// Name is the name the encoding was asked for by.
func (e *Encoding) Name() string { return e.name }

// Count returns the number of tokens of text, as ordinary text. It takes time in proportion to len(text) and never
// fails; see the package comment for invalid UTF-8 and for very long runs.
func (e *Encoding) Count(text string) int64 {
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	var n int64
	last, lastCount := "", int64(0)
	for part := range parts(text) {
		// Floods of one character fall into equal parts: those are merged once.
		if part != last {
			last, lastCount = part, int64(len(e.engine.EncodeOrdinary(part)))
		}
		n += lastCount
	}
	return n
}

var names = []string{"cl100k_base", "o200k_base", "p50k_base", "r50k_base"}

// encodings holds each vocabulary once for the whole program, read when it is first asked for: they are constant data,
// too large to hold twice and too slow to read for every user. The engine's own registry does the same job, but its
// loader is a variable of its package that anyone may set and that downloads by default, so it is not used.
var encodings = map[string]func() (*Encoding, error){
	"o200k_base":  once("o200k_base", o200kPattern),
	"cl100k_base": once("cl100k_base", cl100kPattern),
	"p50k_base":   once("p50k_base", p50kPattern),
	"r50k_base":   once("r50k_base", p50kPattern),
}

func once(name, pattern string) func() (*Encoding, error) {
	return sync.OnceValues(func() (*Encoding, error) {
		ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe(path.Join("/", name+".tiktoken"))
		if err != nil {
			return nil, fmt.Errorf("load token vocabulary %s: %w", name, err)
		}
		core, err := tiktoken.NewCoreBPE(ranks, nil, pattern)
		if err != nil {
			return nil, fmt.Errorf("compile token pattern of %s: %w", name, err)
		}
		return &Encoding{name: name, engine: tiktoken.NewTiktoken(core, nil, nil)}, nil
	})
}
