package reconcile

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// result is a result of a bucket of OpenAI's Usage and Costs APIs, in the members that concern us. From openapi.yaml of
// github.com/openai/openai-openapi (August 2026): UsageTimeBucket, UsageCompletionsResult and its siblings, CostsResult.
// Live answers write amounts as strings of up to forty digits, zero as "0E-6176", and may leave null what is required.
type result struct {
	Object    string `json:"object"`
	Input     number `json:"input_tokens"`
	Cached    number `json:"input_cached_tokens"`
	Output    number `json:"output_tokens"`
	Requests  number `json:"num_model_requests"`
	Model     number `json:"model"`
	Batch     number `json:"batch"`
	Project   number `json:"project_id"`
	User      number `json:"user_id"`
	Key       number `json:"api_key_id"`
	Tier      number `json:"service_tier"`
	Source    number `json:"source"`
	Size      number `json:"size"`
	APISource number `json:"api_source"`
	LineItem  number `json:"line_item"`

	Amount struct {
		Value    number `json:"value"`
		Currency string `json:"currency"`
	} `json:"amount"`
}

// tables are the objects that results can be, and the kinds of table they make. Those without a kind know no models.
var tables = map[string]string{
	"organization.usage.completions.result":               completions,
	"organization.usage.embeddings.result":                embeddings,
	"organization.usage.moderations.result":               "moderations",
	"organization.usage.images.result":                    "images",
	"organization.usage.audio_speeches.result":            "audio_speeches",
	"organization.usage.audio_transcriptions.result":      "audio_transcriptions",
	"organization.costs.result":                           costs,
	"organization.usage.vector_stores.result":             "",
	"organization.usage.code_interpreter_sessions.result": "",
	"organization.usage.file_searches.result":             "",
	"organization.usage.web_searches.result":              "",
}

// bucket takes a bucket with its results.
func (d *document) bucket(o *object) error {
	from, err := parseInstant(o.member("start_time"))
	if err != nil {
		return fmt.Errorf("start_time: %w", err)
	}
	to, err := parseInstant(o.member("end_time"))
	if err != nil {
		return fmt.Errorf("end_time: %w", err)
	}
	if len(o.results) == 0 {
		d.waiting = append(d.waiting, [2]time.Time{from, to})
		return d.settle(d.kind)
	}
	for i := range o.results {
		if err := d.result(&o.results[i], from, to); err != nil {
			return fmt.Errorf("result %d: %w", i+1, err)
		}
	}
	return nil
}

// settle notes that the buckets without results are of a kind of table; empty: that is not known yet.
func (d *document) settle(kind string) error {
	if kind == "" {
		return nil
	}
	for _, w := range d.waiting {
		if err := d.reader.cover(kind, w[0], w[1]); err != nil {
			return err
		}
	}
	d.waiting = nil
	return nil
}

const maxResults = 200_000 // of a bucket

// results reads the results of a bucket.
func (d *document) results(o *object) error {
	token, err := d.decoder.Token()
	switch {
	case err != nil:
		return err
	case token == nil:
		return nil
	case token != json.Delim('['):
		return errors.New("results are not an array: give the answers of the API as they came")
	}
	for d.decoder.More() {
		d.limited.left = maxElement
		if err := d.reader.count(); err != nil {
			return err
		}
		if len(o.results) >= maxResults {
			return fmt.Errorf("a bucket has more than %d results: group by fewer things than model, project and key", maxResults)
		}
		var r result
		if err := d.decoder.Decode(&r); err != nil {
			return fmt.Errorf("bucket %d, result %d: %w", d.buckets+1, len(o.results)+1, err)
		}
		o.results = append(o.results, r)
	}
	return d.close()
}

// result takes one result.
func (d *document) result(res *result, from, to time.Time) error {
	kind, err := res.kind()
	if err != nil || kind == "" {
		if err == nil {
			d.reader.note("%s was left out: it is not by model", res.Object)
		}
		return err
	}
	if err := d.reader.cover(kind, from, to); err != nil {
		return err
	}
	d.kind = kind
	if err := d.settle(kind); err != nil {
		return err
	}
	w := row{
		kind: kind, from: from, to: to,
		dimensions: []string{
			string(res.Project), string(res.User), string(res.Key), string(res.Batch), string(res.Tier), string(res.Source), string(res.Size), string(res.APISource), string(res.LineItem),
		},
	}
	if kind == costs {
		if res.Amount.Value == "" {
			return nil // nothing was charged
		}
		if err := d.amount(res, &w.day); err != nil {
			return err
		}
		return d.reader.add(&w)
	}
	if w.day, err = res.usage(); err != nil {
		return err
	}
	return d.reader.add(&w)
}

// kind is the table that a result is from. Results that do not say are told by what they hold.
func (r *result) kind() (string, error) {
	kind, known := tables[r.Object]
	switch {
	case known:
		return kind, nil
	case r.Object != "":
		return "", fmt.Errorf("object %.60q is not known here: give the answers of /v1/organization/usage/completions, its siblings, and /v1/organization/costs", r.Object)
	case r.Amount.Value != "":
		return costs, nil
	case r.Output != "":
		return completions, nil
	}
	return "", errors.New("it does not say what it is: its member object is missing")
}

// usage reads requests and tokens.
func (r *result) usage() (day Day, err error) {
	for _, f := range []struct {
		name   string
		text   number
		figure Figures
		to     *int64
	}{
		{"num_model_requests", r.Requests, Requests, &day.Requests},
		{"input_tokens", r.Input, Input, &day.Input},
		{"input_cached_tokens", r.Cached, CachedInput, &day.CachedInput},
		{"output_tokens", r.Output, Output, &day.Output},
	} {
		if f.text == "" {
			continue
		}
		if *f.to, err = parseCount(string(f.text)); err != nil {
			return day, fmt.Errorf("%s: %w", f.name, err)
		}
		day.Known |= f.figure
	}
	if day.Known&Requests == 0 {
		return day, errors.New("num_model_requests is missing")
	}
	if day.Known&Input != 0 && day.CachedInput > day.Input {
		return day, fmt.Errorf("input_cached_tokens: %d tokens of %d cannot have been cached", day.CachedInput, day.Input)
	}
	if r.Batch == "true" {
		day.Batch = day.Requests
	}
	if day.Model = string(r.Model); day.Model == "" {
		return day, errors.New("model is missing: ask with group_by=model")
	}
	return day, nil
}

// amount reads what a line of the bill costs.
func (d *document) amount(r *result, day *Day) (err error) {
	if r.Amount.Currency != "" && r.Amount.Currency != "usd" && r.Amount.Currency != "USD" {
		return fmt.Errorf("amount.currency: %w", errNotDollars)
	}
	if day.Cost, err = parseDollars(string(r.Amount.Value)); err != nil {
		return fmt.Errorf("amount.value: %w", err)
	}
	day.Known = Cost
	d.reader.lineItem(day, string(r.LineItem))
	return nil
}
