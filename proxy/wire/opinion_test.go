package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An opinion is what a parser makes of all in a request that is judged.
type opinion struct {
	Model, Tier                  string
	Stream, Echo, Usage, Options bool
	Limits                       [2]int64 // in the order of the dialect's members; 0: there is none
	Limited                      bool
	N, BestOf, Runs              int64
	Store                        string // "", "true" or "false"
	Prompts                      int    // messages, items, or prompts that are answered by themselves
	IDs                          int64  // token numbers in the prompt
	Roles, Kinds                 []string
}

// read is what a parser with these habits reads in the body of a request to e.
func (h habit) read(e Endpoint, body *node) (o opinion) {
	d := dialects[e]
	top := func(name string) *node {
		if _, known := d.shape.exact[name]; !known {
			return nil // nothing there goes by it
		}
		return h.get(body, name)
	}
	o.Model, o.Tier = top("model").text(), top("service_tier").text()
	o.Stream, o.Echo = top("stream").true(), top("echo").true()
	options := top("stream_options")
	o.Options, o.Usage = options != nil, h.get(options, "include_usage").true()
	for i, name := range d.limits {
		limit := top(name)
		o.Limits[i] = limit.number()
		o.Limited = o.Limited || limit != nil
	}
	o.N, o.BestOf, o.Runs = top("n").number(), top("best_of").number(), top("max_tool_calls").number()
	if store := top("store"); store != nil {
		o.Store = "false"
		if store.true() {
			o.Store = "true"
		}
	}
	prompt := top(d.prompt)
	o.Prompts = len(prompt.elements())
	for _, item := range prompt.elements() {
		switch e {
		case Completions, Embeddings:
			if o.IDs += int64(len(item.items)); item.isNumber() {
				o.IDs++
				o.Prompts--
			}
		case Chat, Responses, InputTokens:
			o.Roles = append(o.Roles, h.get(item, "role").text())
			if e != Chat {
				o.Kinds = append(o.Kinds, h.get(item, "type").text())
			}
			content := h.get(item, "content")
			for _, part := range append([]*node{content}, content.elements()...) {
				o.Kinds = append(o.Kinds, h.get(part, "type").text(), h.get(part, "text").text())
			}
		}
	}
	if len(prompt.elements()) > o.Prompts { // numbers are one prompt, all together
		o.Prompts++
	}
	return o
}

// agree demands that parsers with whatever habits read what was read of a request.
func agree(t *testing.T, e Endpoint, body []byte, tree *node, req *Request) {
	t.Helper()
	d, c := dialects[e], &req.Cost
	o := habits[0].read(e, tree)
	for _, h := range habits[1:] {
		if diff := cmp.Diff(o, h.read(e, tree)); diff != "" {
			t.Fatalf("%s %s: parsers disagree (-the last of a name +%+v):\n%s", e, body, h, diff)
		}
	}
	if o.Model == "" {
		o.Model = d.model
	}
	if o.Model != req.Model || o.Stream != req.Stream || o.Usage != req.IncludeUsage && d.asks {
		t.Fatalf("%s %s: encoding/json reads %+v, and Read model %q, stream %v, usage %v", e, body, o, req.Model, req.Stream, req.IncludeUsage)
	}
	_, knowsN := d.shape.exact["n"]
	prompts := int64(1)
	if e == Completions {
		prompts = max(1, int64(o.Prompts))
	}
	switch {
	case e == Pictures:
		if c.Pictures.N != max(1, o.N) {
			t.Fatalf("%s: %d pictures, want %d", body, c.Pictures.N, o.N)
		}
	case knowsN && c.Choices != max(1, o.N, o.BestOf)*prompts:
		t.Fatalf("%s %s: %d choices of %d prompts, n %d, best_of %d", e, body, c.Choices, prompts, o.N, o.BestOf)
	}
	switch {
	case d.limits[0] == "":
		if !c.HasMaxOutput || c.MaxOutput != 0 {
			t.Fatalf("%s %s: an output of %d", e, body, c.MaxOutput)
		}
	case e == Completions && !o.Limited:
		if !c.HasMaxOutput || c.MaxOutput != completionsLimit || req.MustLimit != completionsLimit {
			t.Fatalf("%s %s: the limit is %d, and %d is to be written", e, body, c.MaxOutput, req.MustLimit)
		}
	default:
		if c.HasMaxOutput != o.Limited || c.MaxOutput != max(o.Limits[0], o.Limits[1]) {
			t.Fatalf("%s %s: the limit is %d (%v), and encoding/json reads %v", e, body, c.MaxOutput, c.HasMaxOutput, o.Limits)
		}
	}
	if d.runs && c.MostHosted != o.Runs || c.Echo != (o.Echo && e == Completions) {
		t.Fatalf("%s %s: %d runs, echo %v; encoding/json reads %+v", e, body, c.MostHosted, c.Echo, o)
	}
	if stores := o.Store == "true" || o.Store == "" && d.stores; stores != req.Stores {
		t.Fatalf("%s %s: stores %v, and encoding/json reads %q", e, body, req.Stores, o.Store)
	}
	switch e {
	case Chat:
		if c.Messages != o.Prompts {
			t.Fatalf("%s: %d messages, and encoding/json reads %d", body, c.Messages, o.Prompts)
		}
	case Completions, Embeddings:
		if prompt := habits[0].get(tree, d.prompt); prompt != nil && c.PromptIDs < o.IDs {
			t.Fatalf("%s %s: %d token numbers, and encoding/json reads %d", e, body, c.PromptIDs, o.IDs)
		}
	}
	if c.TokenIDs < 0 || c.PromptIDs < 0 || c.FileTokens < 0 || c.MaxOutput < 0 || c.Choices < 1 || c.Choices > maxChoices*maxValues || c.MaxOutput > maxOutputTokens {
		t.Fatalf("%s %s: out of bounds: %+v", e, body, c)
	}
}
