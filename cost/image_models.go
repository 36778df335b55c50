package cost

import "strings"

// The models' figures are from OpenAI's "Images and vision" guide, in its editions of 2026 up to GPT-5.6. They have
// changed without notice before: where editions differ (the budgets of o4-mini, gpt-5-mini, gpt-5-nano and gpt-4.1-nano
// were 1,536 patches once), the dearer one stands here. A row holds for the model of that name and for those whose
// names go on with a hyphen, unless a longer name fits; gpt-5.3 is taken to be like gpt-5.2, and gpt-5.1-codex-mini like
// gpt-5-mini, which the guide does not say.

// The boxes of the patch models.
var (
	small    = box{side: 512}
	wide     = box{side: 2048, budget: 6_144}
	narrow   = box{side: 2048, budget: 2_500}
	large    = box{side: 6_000, budget: 10_000}
	boundary = box{side: 65_535}

	reference = box{side: 2048, budget: 1_536}

	uniform = [details]box{AutoDetail: wide, LowDetail: wide, HighDetail: wide, OriginalDetail: wide}
	inputs  = [details]box{AutoDetail: reference, LowDetail: reference, HighDetail: reference, OriginalDetail: reference}
	gpt54   = [details]box{AutoDetail: narrow, LowDetail: wide, HighDetail: narrow, OriginalDetail: large}
	gpt55   = [details]box{AutoDetail: large, LowDetail: small, HighDetail: narrow, OriginalDetail: large}
	gpt56   = [details]box{AutoDetail: boundary, LowDetail: small, HighDetail: narrow, OriginalDetail: boundary}
)

var patchModels = []struct {
	name string
	rule patchRule
}{
	{"gpt-5.6", patchRule{120, gpt56}},
	{"gpt-5.5", patchRule{120, gpt55}},
	{"gpt-5.4", patchRule{120, gpt54}},
	{"gpt-5.3", patchRule{120, uniform}},
	{"gpt-5.2", patchRule{120, uniform}},
	{"gpt-5.1-codex-mini", patchRule{120, uniform}},
	{"gpt-5-mini", patchRule{120, uniform}},
	{"gpt-5-nano", patchRule{150, uniform}},
	{"gpt-4.1-mini", patchRule{162, uniform}},
	{"gpt-4.1-nano", patchRule{246, uniform}},
	{"o4-mini", patchRule{172, uniform}},
	{"codex-mini", patchRule{172, uniform}},
	{"gpt-image-2", patchRule{100, inputs}}, // as measured by users (community.openai.com, topic 1382940)
}

var tileModels = []struct {
	name string
	rule tileRule
}{
	{"gpt-4o-mini", tileRule{base: 2_833, tile: 5_667, short: 768}},
	{"gpt-4o", tileRule{base: 85, tile: 170, short: 768}},
	{"chatgpt-4o", tileRule{base: 85, tile: 170, short: 768}},
	{"gpt-4.1", tileRule{base: 85, tile: 170, short: 768}},
	{"gpt-4.5", tileRule{base: 85, tile: 170, short: 768}},
	{"gpt-4-turbo", tileRule{base: 85, tile: 170, short: 768}},
	{"gpt-5", tileRule{base: 70, tile: 140, short: 768}},
	{"gpt-5.1", tileRule{base: 70, tile: 140, short: 768}},
	{"o1", tileRule{base: 75, tile: 150, short: 768}},
	{"o3", tileRule{base: 75, tile: 150, short: 768}},
	{"gpt-image-1", tileRule{base: 65, tile: 129, short: 512, square: 4_160, oblong: 6_240}},
	{"gpt-image-1.5", tileRule{base: 65, tile: 129, short: 512, square: 4_160, oblong: 6_240}}, // taken to be like the one before
}

// patchRuleFor finds m's rule among the patch models.
func patchRuleFor(m Model) (rule patchRule, ok bool) {
	name, longest := baseName(m.Name), 0
	for _, row := range patchModels {
		if isOrExtends(name, row.name) && len(row.name) > longest {
			rule, longest, ok = row.rule, len(row.name), true
		}
	}
	return rule, ok
}

// tileRuleFor finds m's rule among the tile models. A model that is a patch model by a longer name has none.
func tileRuleFor(m Model) (rule tileRule, ok bool) {
	name, longest := baseName(m.Name), 0
	for _, row := range tileModels {
		if isOrExtends(name, row.name) && len(row.name) > longest {
			rule, longest, ok = row.rule, len(row.name), true
		}
	}
	for _, row := range patchModels {
		if isOrExtends(name, row.name) && len(row.name) > longest {
			return tileRule{}, false
		}
	}
	return rule, ok
}

// baseName is a model's name without who serves it (openai/) and without what makes it a fine-tuned one (ft:, :org::id).
func baseName(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	if tuned, ok := strings.CutPrefix(name, "ft:"); ok {
		name, _, _ = strings.Cut(tuned, ":")
	}
	return name
}

// isOrExtends says whether name is model or goes on from it with a hyphen.
func isOrExtends(name, model string) bool {
	rest, ok := strings.CutPrefix(name, model)
	return ok && (rest == "" || rest[0] == '-')
}
