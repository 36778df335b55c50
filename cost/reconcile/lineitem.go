package reconcile

import (
	"slices"
	"strings"
)

// lineItem sets what an amount is for, by OpenAI's name for the line of its bill. Those of models are the model and what was
// metered: "gpt-4o-mini-2024-07-18, cached input", "gpt-image-2-2026-04-21 image, output". Others are fees and other
// services: "web search tool calls", "evals | gpt-4o-mini-2024-07-18, input". An amount without a line is that of all models.
func (r *Reader) lineItem(day *Day, item string) {
	item = strings.TrimSpace(item)
	if item == "" {
		day.Model = AllModels
		return
	}
	r.byItem = true
	model, _, metered := strings.Cut(item, ",")
	words := strings.Fields(model)
	switch {
	case len(words) == 1 && (metered || strings.ContainsAny(model, "-0123456789")):
		day.Model = words[0]
	case len(words) == 2 && metered && slices.Contains(variants, words[1]):
		day.Model = words[0]
	default:
		day.Model, day.Fee = item, true
	}
}

// variants are words behind a model's name that say which of its tokens are meant.
var variants = []string{"text", "audio", "image", "video", "batch", "flex", "priority"}
