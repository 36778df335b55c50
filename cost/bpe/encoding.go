package bpe

import (
	_ "embed" // for the vocabularies
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

//go:generate go run ./gen/vocab -out tables

// Encoding counts the tokens of one vocabulary. It never changes and may be used
// from any number of goroutines.
type Encoding struct {
	name   string
	split  splitter
	blocks blocks
	vocab  *vocab
}

// splitter returns where the piece of a text ends that begins at i. The text is
// valid UTF-8, and i less than its length.
type splitter func(text string, i int) (end int)

// New returns the encoding called name: o200k_base, cl100k_base, p50k_base or
// r50k_base. The first call for a name makes its tables, in some tens of
// milliseconds and, for the largest, 12 MB of memory that the garbage collector
// does not manage: the limit that it keeps to, if there is one, becomes as much
// lower (GOMEMLIMIT). Later calls return the same value.
// Any other name is an error.
func New(name string) (*Encoding, error) {
	load, ok := encodings[name]
	if !ok {
		return nil, fmt.Errorf("token encoding %q is unknown: use one of %s", name, strings.Join(Names(), ", "))
	}
	return load(), nil
}

// Names lists the encodings that New knows, sorted.
func Names() []string { return slices.Sorted(maps.Keys(encodings)) }

// Name is the name the encoding was asked for by.
func (e *Encoding) Name() string { return e.name }

// The vocabularies, as gen/vocab writes them.
var (
	//go:embed tables/o200k_base.bin
	o200kTable string
	//go:embed tables/cl100k_base.bin
	cl100kTable string
	//go:embed tables/p50k_base.bin
	p50kTable string
	//go:embed tables/r50k_base.bin
	r50kTable string
)

// encodings holds each vocabulary once for the whole program, made when it is
// first asked for: they are constant data, too large to hold twice.
var encodings = map[string]func() *Encoding{
	"o200k_base":  once("o200k_base", splitO200k, o200kBlocks, o200kTable),
	"cl100k_base": once("cl100k_base", splitCL100k, cl100kBlocks, cl100kTable),
	"p50k_base":   once("p50k_base", splitP50k, noBlocks, p50kTable),
	"r50k_base":   once("r50k_base", splitP50k, noBlocks, r50kTable),
}

func once(name string, split splitter, blocks blocks, table string) func() *Encoding {
	return sync.OnceValue(func() *Encoding {
		return &Encoding{name: name, split: split, blocks: blocks, vocab: newVocab(table)}
	})
}
