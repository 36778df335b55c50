package reconcile

import (
	"maps"
	"slices"
	"strings"
)

// Cause is a suspicion, as programs read it.
type Cause string

// The causes, in the order in which they are suspected.
const (
	Agrees      Cause = ""                // within the tolerance
	OtherName   Cause = "other_name"      // the two sides know the model by different names
	Midnight    Cause = "day_boundary"    // calls on this side of midnight here are on the other side there
	NotKept     Cause = "no_ledger"       // the ledger has nothing on that day
	NotCounted  Cause = "no_usage"        // the provider has nothing on that day
	Unreported  Cause = "unreported"      // charged without a report of the provider
	Around      Cause = "around_proxy"    // calls that did not pass the proxy
	NotThere    Cause = "not_at_provider" // calls that the export does not have
	FailedCalls Cause = "request_count"   // requests differ and tokens do not
	TokenCounts Cause = "token_counts"    // tokens differ and requests do not
	CacheShare  Cause = "cached_input"    // what was read from the cache differs
	ToolFees    Cause = "fees"            // fees of tools stand elsewhere
	NotCharged  Cause = "not_charged"     // the provider took nothing
	OtherTier   Cause = "service_tier"    // costs differ by what another tier costs
	OldPrices   Cause = "price_list"      // costs differ by a constant factor
	OtherPrices Cause = "prices"          // costs differ by no constant factor
	Follows     Cause = "follows"         // from the lines of models on that day
	Mixed       Cause = "several"         // one figure is more and another less
)

// Causes lists all causes there are, Agrees first.
func Causes() []Cause {
	return []Cause{
		Agrees, OtherName, Midnight, NotKept, NotCounted, Unreported, Around, NotThere, FailedCalls, TokenCounts, CacheShare, ToolFees, NotCharged, OtherTier, OldPrices,
		OtherPrices, Follows, Mixed,
	}
}

// explain finds a cause for every line that is beyond the tolerance.
func (c *comparison) explain() {
	models := map[string][]*Line{}
	for _, l := range c.lines {
		models[l.Model] = append(models[l.Model], l)
	}
	names := slices.Sorted(maps.Keys(models))
	for _, name := range names {
		slices.SortFunc(models[name], func(a, b *Line) int { return int(a.Date - b.Date) })
	}
	c.otherNames(models)
	for _, name := range names {
		c.midnight(models[name])
	}
	for _, name := range names {
		for _, l := range models[name] {
			if l.Beyond != 0 && l.Cause == Agrees {
				l.Cause, l.Why = c.cause(l, models[name])
			}
		}
	}
}

// otherNames suspects, of a model that only one side has on all days, that the other side has it under another name: one
// with the same figures, or else one that is written like it.
func (c *comparison) otherNames(models map[string][]*Line) {
	var ledger, provider []string
	for _, name := range slices.Sorted(maps.Keys(models)) {
		if name == AllModels || name == FeesLine {
			continue
		}
		here, there := false, false
		for _, l := range models[name] {
			here, there = here || !l.Ledger.empty(), there || !l.Provider.empty()
		}
		switch {
		case here && !there:
			ledger = append(ledger, name)
		case there && !here:
			provider = append(provider, name)
		}
	}
	for _, name := range ledger {
		other, how := c.sameUse(name, provider, models), "which has the same figures"
		if other == "" {
			other, how = alike(name, provider), "which is written like it"
		}
		if other == "" {
			continue
		}
		why := "the provider has no usage of " + name + " and the ledger has none of " + other + ", " + how + "; if they are the same, say -model " + name + "=" + other
		for _, l := range slices.Concat(models[name], models[other]) {
			if l.Beyond != 0 && l.Cause == Agrees {
				l.Cause, l.Why = OtherName, why
			}
		}
	}
}

// sameUse is the one model of the provider that agrees with one of the ledger in everything but its name, summed over all
// days; empty where there is none, or several.
func (c *comparison) sameUse(name string, provider []string, models map[string][]*Line) (same string) {
	here := sides(models[name])
	for _, other := range provider {
		there := sides(models[other])
		together := pair{ledger: here.ledger, provider: there.provider, compared: here.compared & there.compared}
		if together.compared&(Input|Output) == 0 || !together.agree(c.Tolerance) {
			continue
		}
		if same != "" {
			return ""
		}
		same = other
	}
	return same
}

// midnight suspects, of days in a row that are each beyond the tolerance but agree in their sum, that calls were counted on
// different days.
func (c *comparison) midnight(lines []*Line) {
	for i := 0; i < len(lines); i++ {
		for j := i; j < len(lines) && lines[j].Beyond&(Usage&^CachedInput) != 0 && lines[j].Cause == Agrees && lines[j].Date-lines[i].Date == Date(j-i); j++ {
			if j == i || !sides(lines[i:j+1]).agree(c.Tolerance) {
				continue
			}
			why := "the days from " + lines[i].Date.String() + " to " + lines[j].Date.String() +
				" agree in their sum: calls that ran across midnight UTC are counted on the day they began on one side and ended on the other, or the export has days of another time zone"
			for _, l := range lines[i : j+1] {
				l.Cause, l.Why = Midnight, why
			}
			i = j
			break
		}
	}
}

// pair is both sides of several lines.
type pair struct {
	ledger, provider Day
	compared         Figures
}

func sides(lines []*Line) pair {
	p := pair{compared: Usage | Cost}
	for _, l := range lines {
		p.ledger.sum(&l.Ledger)
		p.provider.sum(&l.Provider)
		p.compared &= l.Compared
	}
	return p
}

// agree reports whether all of usage that can be compared, and there is some, is within the tolerance.
func (p pair) agree(t Tolerance) bool {
	if p.compared&(Requests|Input|Output) == 0 {
		return false
	}
	for _, f := range figureNames {
		if f.figure&Usage&p.compared != 0 && f.figure != CachedInput && !t.agree(f.figure, p.ledger.figure(f.figure), p.provider.figure(f.figure)) {
			return false
		}
	}
	return true
}

// tableOf is the table of OpenAI that has models of this kind, by what their names hold; empty: that of completions.
func tableOf(model string) string {
	for _, t := range []struct{ part, table string }{
		{"embed", embeddings},
		{"moderation", "moderations"},
		{"tts", "audio_speeches"},
		{"whisper", "audio_transcriptions"},
		{"transcribe", "audio_transcriptions"},
		{"dall-e", "images"},
		{"image", "images"},
	} {
		if strings.Contains(model, t.part) {
			return t.table
		}
	}
	return completions
}
