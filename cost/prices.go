package cost

import (
	"bytes"
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
// change: With reads a newer list. An error means that the list is damaged.
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
	Tools  toolTable  `json:"tools"`
	Models []priceRow `json:"models"`
}

// priceRow describes models that share everything. A name that ends in * is the prefix of a family.
type priceRow struct {
	Names       []string    `json:"names"`
	Encoding    string      `json:"encoding"`
	Reasoning   bool        `json:"reasoning"`
	Price       *priceItems `json:"price"`
	Batch       *priceItems `json:"batch"`
	Flex        *priceItems `json:"flex"`
	Priority    *priceItems `json:"priority"`
	Uplift      *upliftRow  `json:"uplift"`
	Pictures    pictureRow  `json:"pictures"`
	MaxInput    int64       `json:"max_input"`
	MaxOutput   int64       `json:"max_output"`
	NoOutput    bool        `json:"no_output"`
	ImageTokens int64       `json:"image_tokens"`
	Runs        string      `json:"runs"` // a tool that runs in every call
}

// priceItems are dollars by item, each per million units or, where it says per_, for one; and those above thresholds.
type priceItems struct {
	rates map[Item]NanoUSD
	long  map[int64]map[Item]NanoUSD
}

// upliftRow is what a region multiplies prices by: "1.1".
type upliftRow struct {
	EU string `json:"eu"`
	US string `json:"us"`
}

// pictureRow is dollars for a picture by its kind: {"hd/1024x1792": "0.12"}.
type pictureRow map[string]string

func (p pictureRow) kinds() (map[PictureKind]NanoUSD, error) {
	kinds := make(map[PictureKind]NanoUSD, len(p))
	for name, dollars := range p {
		kind, err := ParsePictureKind(name)
		if err != nil {
			return nil, fmt.Errorf("pictures: %w", err)
		}
		if kinds[kind], err = ParseRate(PerImage, dollars); err != nil {
			return nil, fmt.Errorf("pictures %s: %w", name, err)
		}
	}
	return kinds, nil
}

// UnmarshalJSON reads {"input": "2.5", ..., "long": [{"above": 272000, "input": "5", ...}]}.
func (p *priceItems) UnmarshalJSON(data []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	p.rates = map[Item]NanoUSD{}
	for name, value := range members {
		if name == "long" {
			if err := p.readLong(value); err != nil {
				return fmt.Errorf("long: %w", err)
			}
			continue
		}
		item, ok := ItemNamed(name)
		if !ok {
			return fmt.Errorf("there is no item %q", name)
		}
		var dollars string
		if err := json.Unmarshal(value, &dollars); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		rate, err := ParseRate(item, dollars)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		p.rates[item] = rate
	}
	return nil
}

func (p *priceItems) readLong(data []byte) error {
	var steps []map[string]json.RawMessage
	if err := json.Unmarshal(data, &steps); err != nil {
		return err
	}
	p.long = map[int64]map[Item]NanoUSD{}
	for _, step := range steps {
		var above int64
		if err := json.Unmarshal(step["above"], &above); err != nil || above <= 0 {
			return fmt.Errorf("above must be a number of tokens")
		}
		delete(step, "above")
		rest, err := json.Marshal(step)
		if err != nil {
			return err
		}
		var items priceItems
		if err := items.UnmarshalJSON(rest); err != nil {
			return err
		}
		p.long[above] = items.rates
	}
	return nil
}

func (p *priceItems) column() Column {
	if p == nil {
		return Column{}
	}
	return Column{Rates: p.rates, Long: p.long}
}

func parseCatalog(data []byte) (*Catalog, error) {
	var list priceList
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&list); err != nil {
		return nil, err
	}
	fees := map[bool]map[string]Fee{}
	for _, reasoning := range []bool{false, true} {
		var err error
		if fees[reasoning], err = list.Tools.fees(reasoning); err != nil {
			return nil, err
		}
	}
	c := &Catalog{models: make(map[string]Model)}
	for _, row := range list.Models {
		m, err := row.model()
		if err != nil {
			return nil, fmt.Errorf("models %s: %w", strings.Join(row.Names, ", "), err)
		}
		if m.DefaultOutput > 0 && list.Tools.taken(row.Names) {
			m.Fees = fees[m.Reasoning]
			if tool := m.Unpriced(Request{}); tool != "" {
				return nil, fmt.Errorf("models %s: the tool %s, which they run, is not among the tools", strings.Join(row.Names, ", "), tool)
			}
		}
		for _, name := range row.Names {
			if err := c.add(name, m); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(c.families, func(a, b family) int { return len(b.prefix) - len(a.prefix) })
	c.findDearest()
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
	if r.MaxInput < 0 || r.MaxOutput < 0 || r.ImageTokens < 0 {
		return Model{}, fmt.Errorf("a number of tokens is negative: use 0 for unknown")
	}
	card := Card{Standard: r.Price.column(), Batch: r.Batch.column(), Flex: r.Flex.column(), Priority: r.Priority.column()}
	if r.Uplift != nil {
		var err error
		if card.EU, err = parseUplift(r.Uplift.EU); err == nil {
			card.US, err = parseUplift(r.Uplift.US)
		}
		if err != nil {
			return Model{}, fmt.Errorf("uplift: %w", err)
		}
	}
	var err error
	if card.Pictures, err = r.Pictures.kinds(); err != nil {
		return Model{}, err
	}
	price, err := card.Price()
	if err != nil {
		return Model{}, err
	}
	m := Model{
		Encoding:      r.Encoding,
		KnownEncoding: true,
		Reasoning:     r.Reasoning,
		Priced:        card.Stated(),
		Price:         price,
		ImageTokens:   r.ImageTokens,
		Runs:          r.Runs,
	}
	if m.Priced {
		m.Source = Embedded
	}
	m.limits(r.MaxInput, r.MaxOutput, !r.NoOutput)
	return m, nil
}
