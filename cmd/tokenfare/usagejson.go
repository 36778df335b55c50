package main

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy/limit"
)

// usageJSON is what -json prints, in one line. Its shape is described in docs/usage.md, and only ever added to.
type usageJSON struct {
	From     time.Time    `json:"from"`
	To       time.Time    `json:"to"`
	Timezone string       `json:"timezone"`
	By       []string     `json:"by"`
	Rows     []lineJSON   `json:"rows"`
	Total    lineJSON     `json:"total"`
	Budgets  []budgetJSON `json:"budgets,omitempty"`
}

// lineJSON is one line: the members of -by, then the figures.
type lineJSON struct {
	Key      *string `json:"key,omitempty"`
	Group    *string `json:"group,omitempty"`
	Model    *string `json:"model,omitempty"`
	Label    *string `json:"label,omitempty"`
	Day      *string `json:"day,omitempty"`
	Upstream *string `json:"upstream,omitempty"`
	Endpoint *string `json:"endpoint,omitempty"`

	Requests   int64 `json:"requests"`
	Failed     int64 `json:"failed"`
	Counted    int64 `json:"counted"`
	Unreported int64 `json:"unreported"`
	Retries    int64 `json:"retries"`
	sumsJSON
	Refused       *int64           `json:"refused"` // null: not told apart so
	RefusedByCode map[string]int64 `json:"refused_by_code,omitempty"`
	Running       runningJSON      `json:"running"`
}

// sumsJSON are figures of ended exchanges.
type sumsJSON struct {
	Input        int64 `json:"input_tokens"`
	CachedInput  int64 `json:"cached_input_tokens"`
	CacheWrite   int64 `json:"cache_write_tokens"`
	Output       int64 `json:"output_tokens"`
	Reasoning    int64 `json:"reasoning_tokens"`
	Images       int64 `json:"images"`
	Milliseconds int64 `json:"audio_milliseconds"`
	Characters   int64 `json:"characters"`
	costJSON
}

// runningJSON are those of exchanges that have not ended: the most they can come to.
type runningJSON struct {
	Requests int64 `json:"requests"`
	Input    int64 `json:"input_tokens"`
	Output   int64 `json:"output_tokens"`
	costJSON
}

// costJSON is money twice: for sums, and for people.
type costJSON struct {
	Nano int64  `json:"cost_nano_usd"`
	USD  string `json:"cost_usd"`
}

// budgetJSON is what a budget has left, in the words of GET /v1/usage. Amounts are in its unit; those of dollars are there
// twice, like every money.
type budgetJSON struct {
	Owner     string     `json:"owner"` // "key alice", "group research"
	Limit     string     `json:"limit"`
	Unit      string     `json:"unit"`
	Raised    string     `json:"raised,omitempty"` // "raised by $20 until 2026-12-01"
	Amount    int64      `json:"limit_amount"`
	Used      int64      `json:"used"`
	Held      int64      `json:"held"`
	Remaining int64      `json:"remaining"`
	ResetsAt  *time.Time `json:"resets_at"` // null: never

	USD map[string]string `json:"usd,omitempty"` // the four amounts as decimals, where they are money
}

// json is the report in JSON.
func (t usageTable) json() string {
	out := usageJSON{
		From: t.from, To: t.to, Timezone: t.zone.String(), By: t.by.names(),
		Rows: []lineJSON{}, Total: t.lineJSON(&t.total, true),
	}
	for _, l := range t.lines {
		out.Rows = append(out.Rows, t.lineJSON(l, t.by.tellsRefusals()))
	}
	for _, o := range t.owners() {
		for _, b := range t.budgets[o] {
			out.Budgets = append(out.Budgets, b.json(o, t.zone))
		}
	}
	return lineOfJSON(out)
}

func (t usageTable) lineJSON(l *usageLine, refusals bool) lineJSON {
	s := l.sums
	out := lineJSON{
		Requests: s.Requests, Failed: s.Failed, Counted: s.Counted, Unreported: s.Unreported, Retries: s.Retries, sumsJSON: sumsToJSON(s),
		Running: runningJSON{l.running.Requests, l.running.Input, l.running.Output, costToJSON(l.running.Cost)},
	}
	if refusals {
		n := l.refusals()
		out.Refused, out.RefusedByCode = &n, l.refused
	}
	if l != &t.total {
		for i, name := range t.by.names() {
			*map[string]**string{
				"key": &out.Key, "group": &out.Group, "model": &out.Model, "label": &out.Label, "day": &out.Day,
				"upstream": &out.Upstream, "endpoint": &out.Endpoint,
			}[name] = &l.values[i]
		}
	}
	return out
}

func sumsToJSON(s ledger.Sums) sumsJSON {
	return sumsJSON{s.Input, s.CachedInput, s.CacheWrite, s.Output, s.Reasoning, s.Images, s.Milliseconds, s.Characters, costToJSON(s.Cost)}
}

func costToJSON(n cost.NanoUSD) costJSON { return costJSON{int64(n), decimal(n)} }

// decimal writes money exactly, as a number of dollars.
func decimal(n cost.NanoUSD) string { return strings.Replace(n.String(), "$", "", 1) }

func (b budgetLeft) json(o budgetOwner, zone *time.Location) budgetJSON {
	out := budgetJSON{
		Owner: o.kind + " " + o.name, Limit: b.limit.Text, Raised: b.raised, Unit: b.limit.Unit.String(),
		Amount: b.amount, Used: b.used, Held: b.held, Remaining: b.remaining,
	}
	if b.limit.Unit == limit.Dollars {
		out.USD = map[string]string{}
		for name, n := range map[string]int64{"limit_amount": b.amount, "used": b.used, "held": b.held, "remaining": b.remaining} {
			out.USD[name] = decimal(cost.NanoUSD(n))
		}
	}
	if !b.resets.IsZero() {
		resets := b.resets.In(zone)
		out.ResetsAt = &resets
	}
	return out
}

// lineOfJSON encodes v in one line. JSON may hold characters that a terminal takes for commands: they are written out.
func lineOfJSON(v any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic("BUG: what has no JSON is to be printed: " + err.Error())
	}
	var out strings.Builder
	for _, r := range b.String() {
		if r == '\n' || strconv.IsPrint(r) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out.WriteString(`\u` + strconv.FormatUint(uint64(unit)+0x10000, 16)[1:])
		}
	}
	return out.String()
}
