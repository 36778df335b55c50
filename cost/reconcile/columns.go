package reconcile

import (
	"fmt"
	"slices"
	"strings"
)

// column is what a column of a table is for.
type column int

const (
	colStart column = iota
	colEnd
	colDay
	colModel
	colLineItem
	colRequests
	colCall // a name of a single call: each row is one
	colInput
	colCached
	colOutput
	colCost
	colCurrency
	colBatch
	columnCount
)

// alias is a name that a column goes by, in lower case with underscores. Where with is set, it means that only beside
// another column.
type alias struct{ name, with string }

// aliases are the names that columns have in the wild, the better ones first. Sources, as of 2026:
//
//   - OpenAI's dashboard, "completions_usage_*.csv" and "cost_*.csv": the members of its Usage and Costs APIs as columns
//     (openapi.yaml of github.com/openai/openai-openapi: UsageCompletionsResult, CostsResult), with start_time, end_time and
//     the same with _iso; amount.value is amount_value. Its older "activity" export had n_context_tokens_total and so on.
//   - OpenRouter's activity: Date, Slug, Usage (dollars), BYOK Usage, Requests, Prompt Tokens, Completion Tokens; by call:
//     generation_id, created_at, cost_total, tokens_prompt, tokens_completion, tokens_cached, model_permaslug.
//   - Anthropic's console: usage_date_utc, model_version, usage_input_tokens_no_cache and the like (see inputParts).
//   - Our own plain table: day, model, requests, input_tokens, cached_input_tokens, output_tokens, cost.
var aliases = [columnCount][]alias{
	colStart:    {{name: "start_time"}, {name: "start_time_iso"}, {name: "bucket_start"}},
	colEnd:      {{name: "end_time"}, {name: "end_time_iso"}, {name: "bucket_end"}},
	colDay:      {{name: "day"}, {name: "date"}, {name: "usage_date"}, {name: "usage_date_utc"}, {name: "date_utc"}, {name: "created_at"}, {name: "timestamp"}},
	colModel:    {{name: "model"}, {name: "model_name"}, {name: "model_version"}, {name: "model_id"}, {name: "slug"}, {name: "model_permaslug"}, {name: "snapshot_id"}},
	colLineItem: {{name: "line_item"}},
	colRequests: {{name: "requests"}, {name: "num_model_requests"}, {name: "num_requests"}, {name: "n_requests"}, {name: "request_count"}, {name: "api_requests"}, {name: "calls"}},
	colCall:     {{name: "generation_id"}, {name: "request_id"}},
	colInput:    {{name: "input_tokens"}, {name: "prompt_tokens"}, {name: "tokens_prompt"}, {name: "n_context_tokens_total"}, {name: "context_tokens"}},
	colCached: {
		{name: "cached_input_tokens"},
		{name: "input_cached_tokens"},
		{name: "cached_tokens"},
		{name: "tokens_cached"},
		{name: "cached_prompt_tokens"},
		{name: "n_cached_context_tokens_total"},
		{name: "usage_input_tokens_cache_read"},
	},
	colOutput:   {{name: "output_tokens"}, {name: "completion_tokens"}, {name: "tokens_completion"}, {name: "n_generated_tokens_total"}, {name: "usage_output_tokens"}},
	colCost:     {{name: "cost"}, {name: "cost_usd"}, {name: "amount_value"}, {name: "amount_usd"}, {name: "amount"}, {name: "cost_total"}, {name: "total_cost"}, {name: "usage", with: "byok_usage"}, {name: "usage", with: "byok_usage_inference"}},
	colCurrency: {{name: "amount_currency"}, {name: "currency"}, {name: "cost_currency"}},
	colBatch:    {{name: "batch"}},
}

// inputParts are columns that sum to the input where there is none for the whole: Anthropic's console has these.
var inputParts = []string{"usage_input_tokens_no_cache", "usage_input_tokens_cache_write_5m", "usage_input_tokens_cache_write_1h", "usage_input_tokens_cache_read"}

// dimensionNames are columns that tell rows of the same day and model apart.
var dimensionNames = []string{
	"line_item", "project_id", "user_id", "api_key_id", "batch", "service_tier", "source", "size", "api_source", "api_key", "workspace", "usage_type", "context_window",
	"inference_geo", "speed", "endpoint_id", "provider_name", "variant", "generation_id", "request_id",
}

// columns says where the columns of a table stand.
type columns struct {
	header     []string
	at         [columnCount]int // -1: there is none
	parts      []int
	dimensions []int
	figures    Figures  // that there are columns for
	usage      string   // the kind of table that rows of usage are from; empty: there are none
	kinds      []string // the kinds of table that it is
}

// mapColumns finds the columns by their names, in whatever case and with blanks or dashes for underscores. Those with other
// names are passed over.
func mapColumns(header []string) (*columns, error) {
	c := &columns{header: slices.Clone(header)}
	index := map[string]int{}
	for i, name := range header {
		key := columnKey(name)
		if _, twice := index[key]; !twice {
			index[key] = i
		}
	}
	for role, names := range aliases {
		c.at[role] = -1
		for _, a := range names {
			at, found := index[a.name]
			if _, beside := index[a.with]; found && (a.with == "" || beside) {
				c.at[role] = at
				break
			}
		}
	}
	if c.at[colInput] < 0 {
		if _, found := index[inputParts[0]]; found {
			for _, name := range inputParts {
				if at, found := index[name]; found {
					c.parts = append(c.parts, at)
				}
			}
		}
	}
	for _, name := range dimensionNames {
		if at, found := index[name]; found {
			c.dimensions = append(c.dimensions, at)
		}
	}
	c.classify()
	return c, c.enough()
}

func columnKey(name string) string {
	return strings.NewReplacer(" ", "_", "-", "_", ".", "_").Replace(strings.ToLower(strings.TrimSpace(name)))
}

func (c *columns) has(role column) bool { return c.at[role] >= 0 }

// timesOnly reports an export of days without usage: OpenAI's dashboard then writes no other columns.
func (c *columns) timesOnly() bool {
	return c.has(colStart) && c.has(colEnd) && !c.has(colModel) && c.figures == 0
}

// classify says what kinds of table the columns make.
func (c *columns) classify() {
	for role, figure := range map[column]Figures{colRequests: Requests, colCall: Requests, colInput: Input, colCached: CachedInput, colOutput: Output, colCost: Cost} {
		if c.has(role) {
			c.figures |= figure
		}
	}
	if len(c.parts) > 0 {
		c.figures |= Input
	}
	switch {
	case c.figures&Output != 0 || c.timesOnly():
		c.usage = completions
	case c.figures&Input != 0:
		c.usage = embeddings
	case c.figures&Requests != 0:
		c.usage = "requests"
	}
	if c.usage != "" {
		c.kinds = append(c.kinds, c.usage)
	}
	if c.has(colCost) {
		c.kinds = append(c.kinds, costs)
	}
}

// enough reports what is missing for the table to be compared.
func (c *columns) enough() error {
	missing := func(what string, role column) error {
		names := make([]string, len(aliases[role]))
		for i, a := range aliases[role] {
			names[i] = a.name
		}
		found := make([]string, 0, len(c.header))
		for _, name := range c.header {
			found = append(found, fmt.Sprintf("%.40q", name))
		}
		if len(found) > 40 {
			found = append(found[:40], "…")
		}
		return fmt.Errorf("there is no column for %s: call it %s; the columns there are: %s", what, strings.Join(slices.Compact(names), ", "), strings.Join(found, ", "))
	}
	switch {
	case !c.has(colStart) && !c.has(colDay):
		return missing("the day", colDay)
	case c.timesOnly():
		return nil
	case c.figures == 0:
		return missing("requests, tokens or cost", colInput)
	case c.figures&Usage != 0 && !c.has(colModel):
		return missing("the model", colModel)
	}
	return nil
}
