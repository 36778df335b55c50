package proxy

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// What is stored may be read by a model of another vocabulary than that of the model that was asked first, and in that a text may have
// several times as many tokens. So what is kept of it is how many it has in the usual vocabulary, and how many more in the other.
const (
	usualVocabulary = "o200k_base"
	otherVocabulary = "cl100k_base"
)

// readsMore reports whether a model is to be reserved what stored texts have in whichever vocabulary they have more: its own is the
// other one, or not known.
func readsMore(m cost.Model) bool { return !m.KnownEncoding || m.Encoding != usualVocabulary }

// inOther is the same model with the vocabulary that its own is not.
func inOther(m cost.Model) cost.Model {
	if m.Encoding == otherVocabulary {
		m.Encoding = usualVocabulary
	} else {
		m.Encoding = otherVocabulary
	}
	return m
}

// moreText is how many more tokens the texts of a request have by one estimate than by another.
func moreText(one, other *cost.Estimate) (n int64) {
	for part := range cost.Parts {
		switch cost.Part(part) {
		case cost.PartStored, cost.PartFiles, cost.PartImages, cost.PartAudio, cost.PartHosted:
		default:
			n += max(0, one.ByPart[part]-other.ByPart[part])
		}
	}
	return n
}

// mixes reports whether models of both vocabularies may be asked.
func (p *Policy) mixes() bool {
	usual, other := false, false
	for _, pool := range p.pools {
		for _, r := range pool.routes {
			switch m := r.facts(p.catalog, pool.pattern); {
			case isGlob(pool.pattern):
				return true
			case m.DefaultOutput == 0: // nothing is stored for it
			case m.Encoding == otherVocabulary:
				other = true
			default:
				usual = true
			}
		}
	}
	return usual && other
}

// isRead reports whether what the call says, or is told, may be read again by a call that does not show it.
func (x *exchange) isRead() bool {
	return x.adding != nil || x.stores && x.endpoint == wire.Responses
}

// countOther counts what the call tells the model in the other vocabulary too, if it may be read in that.
func (x *exchange) countOther(ctx context.Context, request *wire.Request) error {
	if !x.policy.mixed || !x.isRead() {
		return nil
	}
	e, err := x.server.options.Estimator.EstimateUpTo(ctx, request.Cost, inOther(x.facts), math.MaxInt64)
	x.other = inOther(x.facts)
	x.moreTold = moreText(&e, &x.estimate)
	return err
}

// count counts what the model says, in the other vocabulary too, if it may be read in that.
func (x *exchange) count(text string) int64 {
	n := x.server.options.Estimator.Count(x.facts, text)
	if x.other.Encoding != "" {
		x.moreSaid += x.server.options.Estimator.Count(x.other, text) - n
	}
	return n
}

// more is how many more tokens there are in the other vocabulary of what the call was told and has said, and of that of what it has said.
func (x *exchange) more() (all, said int64) {
	if x.other.Encoding == "" {
		return 0, 0
	}
	if x.answer != nil {
		x.answer.Counted() // all of it
	}
	said = max(0, x.moreSaid)
	return addSaturating(x.moreTold, said), said
}

// carries is how a response is kept: its tokens in the usual vocabulary, and in Of how many more it has in the other.
func (x *exchange) carries(whole, more int64) (tokens int64, of string) {
	switch {
	case x.facts.Encoding == otherVocabulary: // in which the whole was read
		return addSaturating(whole, more), ""
	case !readsMore(x.facts):
		more = addSaturating(more, x.claimed.more)
	}
	if more == 0 {
		return whole, ""
	}
	return whole, moreMark + strconv.FormatInt(more, 10)
}

// moreMark begins what is kept of a response beside its tokens. No id begins so.
const moreMark = "+"

// moreOf is how many more tokens a response has in the other vocabulary.
func moreOf(row ledger.Owned) int64 {
	text, there := strings.CutPrefix(row.Of, moreMark)
	n, err := strconv.ParseInt(text, 10, 64)
	if !there || err != nil {
		return 0
	}
	return max(0, n)
}

// reads is how many tokens a model is to be reserved for what is stored.
func reads(m cost.Model, tokens, more int64) int64 {
	if readsMore(m) {
		tokens = addSaturating(tokens, more)
	}
	return max(tokens, m.Ratio.Of(tokens)) // reported tokens may be its own, which nothing is to be taken off
}

// itemTokens are how many tokens items have in the usual vocabulary, and how many more in the other.
func (c *stored) itemTokens(request *wire.Request, uses claimed) (tokens, more int64, err error) {
	facts := request.Cost
	facts.Stored, facts.FileTokens = uses.tokens, addSaturating(facts.FileTokens, uses.files)
	m := c.exchange.policy.catalog.Model(countedAs)
	estimate, err := c.server.options.Estimator.EstimateUpTo(c.r.Context(), facts, m, math.MaxInt64)
	if err != nil {
		return 0, 0, err
	}
	other, err := c.server.options.Estimator.EstimateUpTo(c.r.Context(), facts, inOther(m), math.MaxInt64)
	return estimate.Input, addSaturating(moreText(&other, &estimate), uses.more), err
}
