package cost

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// Model is what the catalog knows about a model: how its text is counted, what it costs and how much it can hold.
// It is a plain value: callers may change their copy (to apply configuration) before estimating with it.
type Model struct {
	Name          string // the catalog's name for it, or the name asked for where the catalog has only its family or nothing
	Encoding      string // the vocabulary its text is counted with, such as o200k_base
	KnownEncoding bool   // false: Encoding is a guess, and counts are approximate
	Ratio         Ratio  // how many tokens its text has for each that Encoding counts; 0: one
	Reasoning     bool   // output may contain reasoning that is billed and never shown
	Priced        bool   // false: Price says nothing
	Price         Price
	Source        Source         // where Price is from
	Fees          map[string]Fee // what the provider takes for tools that it runs, by their type; shared between copies: not to be changed

	Skipped string // why what a price file says of it was not taken; empty: it was, or it says nothing
	Runs    string // the tool that the provider runs in every call, by its type; empty: none

	Context       int64 // no call holds more tokens than this, input and output together; generous; 0: unknown
	MaxOutput     int64 // most output tokens of one choice; 0: unknown
	DefaultOutput int64 // output tokens to reserve for each choice when the caller gives no limit; 0: it has no output (embeddings)
	ImageTokens   int64 // input tokens to charge for an image; 0: DefaultImageTokens
}

// Source says where a price is from.
type Source uint8

// The sources. What stands later goes before what stands earlier.
const (
	NoSource   Source = iota // there is no price
	Embedded                 // the list that is part of the program
	FromFile                 // the price file that the configuration names
	FromConfig               // the configuration itself
	FromRule                 // there is no price, and the configuration says what then: `unpriced`
)

// String names the source as it is printed.
func (s Source) String() string {
	return [...]string{"none", "embedded", "file", "config", "unpriced"}[min(s, FromRule)]
}

// limits sets what follows from the largest input and output of a model; 0: unknown.
func (m *Model) limits(input, output int64, hasOutput bool) {
	m.MaxOutput, m.Context, m.DefaultOutput = output, 0, 0
	if input > 0 {
		// Providers state the two limits apart or the input alone; their sum is never exceeded.
		m.Context = saturatingAdd(input, output)
	}
	if !hasOutput {
		return
	}
	m.DefaultOutput = defaultOutput
	if m.Reasoning {
		m.DefaultOutput = defaultReasoningOutput
	}
	if output > 0 {
		m.DefaultOutput = min(m.DefaultOutput, output)
	}
}

const (
	defaultEncoding        = "o200k_base"
	defaultOutput          = 4_096
	defaultReasoningOutput = 16_384
)

// Catalog is a price list and the facts about models. It never changes and is safe for concurrent use.
type Catalog struct {
	models   map[string]Model
	families []family          // longest prefix first
	skipped  []Skipped         // of a price file, by name
	reasons  map[string]string // why, by name
	dearest  Price
}

// A family is what all models with a prefix share. It has no price: a relative we have not heard of has its own.
type family struct {
	prefix string
	model  Model
}

// Model finds a model by the name a caller uses: the name itself, or without its date (-2024-08-06). Failing that, a
// provider's prefix (openai/, azure/) is dropped, and so is what follows the base name of a fine-tuned model
// (ft:BASE:org::id). Then the longest match wins: the name; the name without its date; its family, which knows the encoding
// but no price. A model that somebody else serves (openrouter/openai/gpt-4) is known by what stands behind the last slash,
// but for its price. For any other name the encoding is a guess (o200k_base), and so is whether it reasons; limits and price are unknown. Names are matched
// by case, as the provider does.
func (c *Catalog) Model(name string) Model {
	m := c.model(name)
	m.Skipped = c.reasons[name]
	return m
}

func (c *Catalog) model(name string) Model {
	base := name
	for {
		bare := strings.TrimPrefix(strings.TrimPrefix(base, "openai/"), "azure/")
		if bare == base {
			break
		}
		base = bare
	}
	if tuned, ok := strings.CutPrefix(base, "ft:"); ok {
		tuned, _, _ = strings.Cut(tuned, ":")
		base = "ft:" + tuned
	}
	// A price file may know what a provider asks for a model under the provider's own prefix.
	for _, candidate := range []string{name, withoutDate(name), base, withoutDate(base)} {
		if m, ok := c.models[candidate]; ok {
			return m
		}
	}
	for _, f := range c.families {
		if strings.HasPrefix(base, f.prefix) {
			m := f.model
			m.Name = name
			return m
		}
	}
	if at := strings.LastIndexByte(base, '/'); at >= 0 {
		if m := c.model(base[at+1:]); m.KnownEncoding { // the same model, served by somebody who has prices of his own
			m.Name, m.Priced, m.Price, m.Source, m.Fees = name, false, Price{}, NoSource, nil
			return m
		}
	}
	m := Model{Name: name, Encoding: defaultEncoding, Reasoning: thinks(base)}
	m.limits(0, 0, true)
	return m
}

// Known lists every model that the catalog has by name, sorted by name; families are not listed.
func (c *Catalog) Known() []Model {
	known := make([]Model, 0, len(c.models))
	for _, name := range slices.Sorted(maps.Keys(c.models)) {
		known = append(known, c.models[name])
	}
	return known
}

// Dearest is a price that no model of the catalog exceeds, item by item and for prompts of any size. Other vendors'
// offers of a price file, whose names begin with theirs (vendor/model), are left out: some are off by a million.
func (c *Catalog) Dearest() Price { return c.dearest }

func (c *Catalog) findDearest() {
	for name, m := range c.models {
		if m.Priced && !strings.Contains(name, "/") {
			rates := m.Price.rates(Standard, math.MaxInt64, upTo)
			c.dearest.Rates.raise(&rates)
		}
	}
}

// withoutDate drops a release date from the end of a name: gpt-4o-2024-08-06 is gpt-4o.
func withoutDate(name string) string {
	const form = "-0000-00-00"
	at := len(name) - len(form)
	if at < 0 {
		return name
	}
	for i := range len(form) {
		c := name[at+i]
		if form[i] == '-' && c != '-' || form[i] == '0' && (c < '0' || c > '9') {
			return name
		}
	}
	return name[:at]
}
