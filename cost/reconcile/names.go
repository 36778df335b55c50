package reconcile

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// base is the name of a model without the date of its snapshot: gpt-5-mini-2025-08-07 is a gpt-5-mini, as
// claude-sonnet-4-20250514 is a claude-sonnet-4 and gpt-4-0613 a gpt-4. Month and day alone are a date only behind names
// that begin with gpt-, where OpenAI used them; other makers write year and month, or a size, in four digits.
func base(model string) string {
	for _, form := range []string{"-2006-01-02", "-20060102", "-0102"} {
		at := len(model) - len(form)
		if at <= 0 || form == "-0102" && !strings.HasPrefix(model, "gpt-") {
			continue
		}
		if t, err := time.Parse(form, model[at:]); err == nil && (form == "-0102" || t.Year() >= 2020 && t.Year() < 2100) {
			return model[:at]
		}
	}
	return model
}

// join finds the name under which the names of both sides are compared. Where both sides have the same snapshots of a model,
// each is compared by itself. Where they differ, as when one side has the alias and the other what it stood for, all
// snapshots of the model are compared together, under its name without a date.
func join(ledger, provider map[string]bool) map[string]string {
	type sides struct{ ledger, provider []string }
	groups := map[string]*sides{}
	of := func(name string) *sides {
		b := base(name)
		if groups[b] == nil {
			groups[b] = &sides{}
		}
		return groups[b]
	}
	for _, name := range slices.Sorted(maps.Keys(ledger)) {
		of(name).ledger = append(of(name).ledger, name)
	}
	for _, name := range slices.Sorted(maps.Keys(provider)) {
		of(name).provider = append(of(name).provider, name)
	}
	joined := map[string]string{}
	for b, s := range groups {
		alone := len(s.ledger) == 0 || len(s.provider) == 0 // there is nothing to join them with
		for _, name := range slices.Concat(s.ledger, s.provider) {
			joined[name] = b
			if alone || slices.Equal(s.ledger, s.provider) {
				joined[name] = name
			}
		}
	}
	return joined
}

// alike is the name that is written like another but for its maker, its date, capitals and what stands between its words:
// openai/gpt-3.5-turbo-0125 is like gpt-35-turbo. Names that differ in a letter or digit are of other models as a rule.
func alike(name string, names []string) string {
	for _, n := range names {
		if folded(n) == folded(name) {
			return n
		}
	}
	return ""
}

func folded(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(base(name)))
}
