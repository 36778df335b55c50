package cost

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// Skipped is an entry of a price file that was not taken, and why.
type Skipped struct {
	Name   string
	Reason string
	Absurd bool // its price cannot be meant
}

// With is the catalog with the models of a price file in front of its own: LiteLLM's
// model_prices_and_context_window.json, whose prices are dollars for a single unit. Decimals are read exactly and rounded
// up to 10^-15 dollars a token. Entries that cannot be metered are skipped, see Skipped.
//
// An error is a file in another form, or one whose prices cannot be meant: that of a model which this catalog knows, or
// more than one in ten. Other models with an absurd price are skipped, and have no price at all.
func (c *Catalog) With(file []byte) (*Catalog, error) {
	entries, err := readObject(file)
	if err != nil {
		return nil, err
	}
	out := &Catalog{models: maps.Clone(c.models), families: c.families, reasons: map[string]string{}}
	pictures := filePictures{}
	priced, absurd := 0, 0
	taken := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		fields, isModel := entries[name].(map[string]any)
		if !isModel || name == "sample_spec" || name == "fallback_generalizations" {
			continue // not a model
		}
		priced++
		m, err := fileModel(name, fields, c)
		if err == nil {
			out.models[name], taken[name] = m, true
			pictures.add(name, m)
			continue
		}
		skipped := Skipped{Name: name, Reason: err.Error()}
		if mistaken := (*absurdPrice)(nil); errors.As(err, &mistaken) {
			if c.models[name].Priced {
				return nil, fmt.Errorf("model %s: %w", name, err)
			}
			skipped.Absurd = true
			absurd++
		}
		out.skipped = append(out.skipped, skipped)
		out.reasons[name] = skipped.Reason
	}
	if len(out.models) == len(c.models) && priced == 0 {
		return nil, errors.New(`there is no model in it: the file must look like {"gpt-4o": {"input_cost_per_token": 2.5e-06, "output_cost_per_token": 1e-05}}`)
	}
	if absurd > 0 && absurd > priced/10 {
		first := out.skipped[slices.IndexFunc(out.skipped, func(s Skipped) bool { return s.Absurd })]
		return nil, fmt.Errorf("%d of %d prices cannot be meant, the first that of %s: %s", absurd, priced, first.Name, first.Reason)
	}
	pictures.fold(out)
	for name := range taken {
		out.addTiers(name, c)
	}
	out.findDearest()
	return out, nil
}

// addTiers completes an entry of a price file by the tiers of the same model: files often list them for its undated name
// alone. Where the standard prices differ it is not the same.
func (c *Catalog) addTiers(name string, before *Catalog) {
	m := c.models[name]
	for _, same := range []Model{before.models[name], c.models[withoutDate(name)], before.models[withoutDate(name)]} {
		if !same.Priced || same.Price.Rates != m.Price.Rates {
			continue
		}
		for _, tier := range []struct {
			to   **Schedule
			from *Schedule
		}{{&m.Price.Batch, same.Price.Batch}, {&m.Price.Flex, same.Price.Flex}, {&m.Price.Priority, same.Price.Priority}} {
			if *tier.to == nil {
				*tier.to = tier.from
			}
		}
	}
	c.models[name] = m
}

// Skipped lists what was not taken from a price file, sorted by name.
func (c *Catalog) Skipped() []Skipped { return slices.Clone(c.skipped) }

// readObject reads one JSON object with its numbers as text, and nothing behind it.
func readObject(text []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return nil, fmt.Errorf("it is not a JSON object of models: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON object: the file must hold one object")
	}
	return object, nil
}

// fileModel makes a model of an entry. What the entry does not say of how it is counted, and of the fees of tools, is that
// of our own model of that name, whoever serves it.
func fileModel(name string, fields map[string]any, known *Catalog) (Model, error) {
	card, err := fileCard(name, fields)
	if err != nil {
		return Model{}, err
	}
	price, err := card.Price()
	if err != nil {
		return Model{}, &absurdPrice{err}
	}
	mode, _ := fields["mode"].(string)
	if slices.Contains(textModes, mode) && price.Rates[Input] > 0 && price.Rates[Output] <= 0 {
		return Model{}, errors.New("it has a price for input and none for output: add output_cost_per_token, or say mode: embedding")
	}
	relative := known.Model(name[strings.LastIndexByte(name, '/')+1:])
	if relative.Priced {
		if err := price.Near(relative.Price); err != nil {
			return Model{}, &absurdPrice{err}
		}
	}
	m := Model{
		Name: name, Encoding: relative.Encoding, KnownEncoding: relative.KnownEncoding, ImageTokens: relative.ImageTokens,
		Runs: relative.Runs, Reasoning: relative.Reasoning || fields["supports_reasoning"] == true,
		Priced: true, Price: price, Source: FromFile,
	}
	if m.Fees, err = fileFees(fields, relative.Fees); err != nil {
		return Model{}, err
	}
	if flat := price.Rates[PerImage]; flat > 0 && !price.byToken() && !pictureSize.MatchString(name) {
		// One price for all pictures is that of the usual ones: what we know of the others still holds.
		m.Price = price.withPictures(raisedTo(flat, relative.Price.Pictures))
	}
	output := fileLimit(fields["max_output_tokens"])
	if output == 0 {
		output = fileLimit(fields["max_tokens"]) // its older name
	}
	_, tokens := card.Standard.Rates[Output]
	if slices.Contains(pictureModes, mode) {
		tokens = price.byToken() // a price of $0 for a token says that pictures are billed otherwise
	}
	m.limits(fileLimit(fields["max_input_tokens"]), output, !slices.Contains(inputModes, mode) && tokens)
	return m, nil
}

// textModes are what models are used for that make text; an entry that does not say is taken for one.
var textModes = []string{"", "chat", "completion", "responses"}

// inputModes are what models are used for that make no tokens.
var inputModes = []string{"embedding", "rerank", "moderation"}

// pictureModes are what models are used for that make pictures.
var pictureModes = []string{"image_generation", "image_edit"}

// fileLimit reads a number of tokens; what is none is 0, unknown.
func fileLimit(v any) int64 {
	number, ok := v.(json.Number)
	if !ok {
		return 0
	}
	r, err := parseDecimal(number.String())
	if err != nil || !r.IsInt() || !r.Num().IsInt64() {
		return 0
	}
	return max(0, r.Num().Int64())
}

// absurdPrice is a price that cannot be meant.
type absurdPrice struct{ err error }

func (a *absurdPrice) Error() string {
	return a.err.Error() + " (the file gives dollars for one unit: 2.5e-06 is $2.50 for a million tokens)"
}

func (a *absurdPrice) Unwrap() error { return a.err }

// fileAmount reads dollars for one unit of something as nano-dollars for a million, rounded up.
func fileAmount(name string, v any) (NanoUSD, error) {
	r, err := fileNumber(name, v)
	if err != nil {
		return 0, err
	}
	return NanoUSD(roundedUp(r, int64(usd)*perMillion)), nil
}

// lastDigit is what one is worth in the last digit of a number as it is written: 1e-09 in 1.9e-08.
func lastDigit(v any) *big.Rat {
	number, _ := v.(json.Number)
	mantissa, exponent := number.String(), ""
	if at := strings.IndexAny(mantissa, "eE"); at >= 0 {
		mantissa, exponent = mantissa[:at], mantissa[at:]
	}
	digits := []byte(strings.TrimPrefix(mantissa, "-"))
	for i, c := range digits {
		if c != '.' {
			digits[i] = '0'
		}
	}
	if len(digits) == 0 {
		return new(big.Rat)
	}
	digits[len(digits)-1] = '1'
	r, err := parseDecimal(string(digits) + exponent)
	if err != nil {
		return new(big.Rat)
	}
	return r
}

// fileNumber reads a number exactly.
func fileNumber(name string, v any) (*big.Rat, error) {
	number, ok := v.(json.Number)
	if !ok {
		return nil, fmt.Errorf("%s is not a number", name)
	}
	r, err := parseDecimal(number.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}
