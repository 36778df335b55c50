package main

import (
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// exchangeJSON is what -id prints with -json, in one line.
type exchangeJSON struct {
	ID       string       `json:"id"`
	Began    time.Time    `json:"began"`
	Key      string       `json:"key"`
	Groups   []string     `json:"groups"`
	Label    string       `json:"label"`
	Endpoint string       `json:"endpoint"`
	Upstream string       `json:"upstream"`
	Model    string       `json:"model"`
	Stream   bool         `json:"stream"`
	Retry    int          `json:"retry"`
	Price    string       `json:"price"` // its version
	Estimate estimateJSON `json:"estimate"`
	Reserved figuresJSON  `json:"reserved"`
	Draws    []drawJSON   `json:"draws,omitempty"`
	End      *endJSON     `json:"end"` // null: there is none

	Corrections []correctionJSON `json:"corrections,omitempty"`
	Budgets     []chargeJSON     `json:"budgets"`
}

type estimateJSON struct {
	Input     int64            `json:"input_tokens"`
	MaxOutput int64            `json:"max_output_tokens"`
	Basis     string           `json:"basis"`
	Parts     map[string]int64 `json:"parts"`
}

// figuresJSON is a usage and what it costs. Every figure of sums is there, then those that sums do not have.
type figuresJSON struct {
	sumsJSON
	AudioInput  int64  `json:"audio_input_tokens,omitempty"`
	ImageInput  int64  `json:"image_input_tokens,omitempty"`
	CachedAudio int64  `json:"cached_audio_tokens,omitempty"`
	CachedImage int64  `json:"cached_image_tokens,omitempty"`
	AudioOutput int64  `json:"audio_output_tokens,omitempty"`
	ImageOutput int64  `json:"image_output_tokens,omitempty"`
	Fees        int64  `json:"tool_fees_nano_usd,omitempty"`
	Tier        string `json:"service_tier,omitempty"`
}

type drawJSON struct {
	Step int `json:"step"`
	figuresJSON
}

type endJSON struct {
	At         time.Time `json:"at"`
	Status     int       `json:"status"` // 0: there was none
	Ending     string    `json:"ending"`
	Basis      string    `json:"basis"`
	Served     string    `json:"served,omitempty"`
	UpstreamID string    `json:"upstream_id,omitempty"`
	Took       int64     `json:"took_microseconds"`
	FirstByte  int64     `json:"first_byte_microseconds"`
	figuresJSON
}

type correctionJSON struct {
	At     time.Time `json:"at"`
	Basis  string    `json:"basis"`
	Was    string    `json:"was"`
	Reason string    `json:"reason"`
	figuresJSON
}

// chargeJSON is what one budget was charged, in its unit; those of dollars in nano-dollars.
type chargeJSON struct {
	Budget   string `json:"budget"`
	Unit     string `json:"unit"`
	Reserved int64  `json:"reserved"`
	Charged  int64  `json:"charged"`
	Beyond   int64  `json:"beyond"` // beyond the reservation, and charged when it ended
}

// json is the exchange in JSON.
func (x *oneExchange) json() string {
	b := &x.Begin
	out := exchangeJSON{
		ID: b.Exchange.String(), Began: b.Exchange.Time().In(x.zone), Key: b.Series.Key, Groups: []string{}, Label: b.Label,
		Endpoint: b.Series.Endpoint, Upstream: b.Series.Upstream, Model: b.Model, Stream: b.Stream, Retry: b.Retry, Price: b.Price,
		Estimate: estimateJSON{b.Estimate.Input, b.Estimate.MaxOutput, b.Estimate.Basis.String(), map[string]int64{}},
		Reserved: figuresToJSON(b.Most, b.Reserved), Budgets: []chargeJSON{},
	}
	if b.Series.Groups != "" {
		out.Groups = strings.Split(b.Series.Groups, ",")
	}
	for p, n := range b.Estimate.ByPart {
		if n != 0 {
			out.Estimate.Parts[cost.Part(p).String()] = n
		}
	}
	for _, d := range x.Draws {
		out.Draws = append(out.Draws, drawJSON{d.Step, figuresToJSON(d.More, d.Reserved)})
	}
	if e := x.End; e != nil {
		out.End = &endJSON{
			At: e.Seq.Time().In(x.zone), Status: e.Status, Ending: e.Ending, Basis: e.Basis, Served: e.Served, UpstreamID: e.UpstreamID,
			Took: e.Took.Microseconds(), FirstByte: e.FirstToken.Microseconds(), figuresJSON: figuresToJSON(e.Usage, e.Cost),
		}
	}
	for _, c := range x.corrections {
		out.Corrections = append(out.Corrections, correctionJSON{c.Seq.Time().In(x.zone), c.Basis, c.Was, c.Reason, figuresToJSON(c.Usage, c.Cost)})
	}
	for _, c := range x.charges() {
		out.Budgets = append(out.Budgets, chargeJSON{c.budget.Name, c.budget.Unit, c.reserved, c.charged, c.late})
	}
	return lineOfJSON(out)
}

func figuresToJSON(u cost.Usage, price cost.NanoUSD) figuresJSON {
	f := figuresJSON{
		sumsJSON: sumsToJSON(ledger.Sums{
			Input: u.Input, CachedInput: u.CachedInput, CacheWrite: u.CacheWrite, Output: u.Output, Reasoning: u.Reasoning,
			Images: u.Images, Milliseconds: u.Milliseconds, Characters: u.Characters, Cost: price,
		}),
		AudioInput: u.AudioInput, ImageInput: u.ImageInput, CachedAudio: u.CachedAudio, CachedImage: u.CachedImage,
		AudioOutput: u.AudioOutput, ImageOutput: u.ImageOutput, Fees: int64(u.Fees),
	}
	if u.Tier != cost.Unstated {
		f.Tier = u.Tier.String()
	}
	return f
}
