package cost

import (
	"bytes"
	"cmp"
	_ "embed" // for prices.json
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tokenfare/tokenfare/cost/bpe"
)

//go:embed prices.json
var pricesJSON []byte

// DefaultCatalog reads the list that is part of the program: prices.json, whose head names its source and date. Prices
// change, so configuration should be able to override them. An error means that the list is damaged.
func DefaultCatalog() (*Catalog, error) {
	c, err := parseCatalog(pricesJSON)
	if err != nil {
		return nil, fmt.Errorf("read the price list: %w", err)
	}
	return c, nil
}

// priceList is the form of prices.json.
type priceList struct {
	Source string     `json:"source"`
	Date   string     `json:"date"`
	Unit   string     `json:"unit"`
	Models []priceRow `json:"models"`
}

// priceRow describes models that share everything. A name that ends in * is the prefix of a family.
type priceRow struct {
	Names     []string `json:"names"`
	Encoding  string   `json:"encoding"`
	Reasoning bool     `json:"reasoning"`
	priceItems
	LongAbove   int64       `json:"long_above"`
	Long        *priceItems `json:"long"`
	MaxInput    int64       `json:"max_input"`
	MaxOutput   int64       `json:"max_output"`
	NoOutput    bool        `json:"no_output"`
	ImageTokens int64       `json:"image_tokens"`
}

// priceItems are dollars. Without a price of its own, cached or written input costs what other input costs.
type priceItems struct {
	Input       string `json:"input"`
	CachedInput string `json:"cached_input"`
	CacheWrite  string `json:"cache_write"`
	Output      string `json:"output"`
}

func parseCatalog(data []byte) (*Catalog, error) {
	var list priceList
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&list); err != nil {
		return nil, err
	}
	c := &Catalog{models: make(map[string]Model)}
	for _, row := range list.Models {
		m, err := row.model()
		if err != nil {
			return nil, fmt.Errorf("models %s: %w", strings.Join(row.Names, ", "), err)
		}
		for _, name := range row.Names {
			if err := c.add(name, m); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(c.families, func(a, b family) int { return len(b.prefix) - len(a.prefix) })
	return c, nil
}

func (c *Catalog) add(name string, m Model) error {
	if prefix, ok := strings.CutSuffix(name, "*"); ok {
		if m.Priced {
			return fmt.Errorf("model %s: a family cannot have a price: name its models", name)
		}
		c.families = append(c.families, family{prefix, m})
		return nil
	}
	if _, ok := c.models[name]; ok {
		return fmt.Errorf("model %s is listed twice: keep one row", name)
	}
	m.Name = name
	c.models[name] = m
	return nil
}

func (r priceRow) model() (Model, error) {
	if !slices.Contains(bpe.Names(), r.Encoding) {
		return Model{}, fmt.Errorf("encoding %q is unknown: use one of %s", r.Encoding, strings.Join(bpe.Names(), ", "))
	}
	if r.MaxInput < 0 || r.MaxOutput < 0 || r.LongAbove < 0 || r.ImageTokens < 0 {
		return Model{}, fmt.Errorf("a number of tokens is negative: use 0 for unknown")
	}
	if (r.LongAbove > 0) != (r.Long != nil) {
		return Model{}, fmt.Errorf("long_above and long belong together: give both or neither")
	}
	price, err := r.price()
	if err != nil {
		return Model{}, err
	}
	price.LongAbove = r.LongAbove
	if r.Long != nil {
		long, err := r.Long.price()
		if err != nil {
			return Model{}, fmt.Errorf("long: %w", err)
		}
		price.Long = &long
	}
	m := Model{
		Encoding:      r.Encoding,
		KnownEncoding: true,
		Reasoning:     r.Reasoning,
		Priced:        r.Input != "",
		Price:         price,
		MaxOutput:     r.MaxOutput,
		ImageTokens:   r.ImageTokens,
	}
	if r.MaxInput > 0 {
		// Providers state the two limits apart or the input alone; their sum is never exceeded.
		m.Context = saturatingAdd(r.MaxInput, r.MaxOutput)
	}
	if !r.NoOutput {
		m.DefaultOutput = defaultOutput
		if r.Reasoning {
			m.DefaultOutput = defaultReasoningOutput
		}
		if r.MaxOutput > 0 {
			m.DefaultOutput = min(m.DefaultOutput, r.MaxOutput)
		}
	}
	return m, nil
}

func (i priceItems) price() (Price, error) {
	var p Price
	i.CachedInput, i.CacheWrite = cmp.Or(i.CachedInput, i.Input), cmp.Or(i.CacheWrite, i.Input)
	for _, item := range []struct {
		name  string
		value string
		to    *NanoUSD
	}{
		{"input", i.Input, &p.Input},
		{"cached_input", i.CachedInput, &p.CachedInput},
		{"cache_write", i.CacheWrite, &p.CacheWrite},
		{"output", i.Output, &p.Output},
	} {
		if item.value == "" {
			continue
		}
		n, err := ParseUSD(item.value)
		if err != nil {
			return Price{}, fmt.Errorf("%s: %w", item.name, err)
		}
		*item.to = n
	}
	return p, nil
}
