package proxy

import (
	"io"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// noticed is an upstream's body that shows what goes by.
type noticed struct {
	io.ReadCloser
	made *wire.Made
}

func (n noticed) Read(p []byte) (int, error) {
	k, err := n.ReadCloser.Read(p)
	_, _ = n.made.Write(p[:k]) // it never fails
	return k, err
}

// keeps reports whether the provider stores the answer, or what is in it.
func (x *exchange) keeps() bool { return x.stores || x.claimed.conversation != "" }

// notices reports whether there may be something in the answer that the caller can name later.
func (x *exchange) notices() bool { return x.keeps() || x.runs }

// notice looks out for the ids of what the provider stores of an answer.
func (x *exchange) notice(body io.ReadCloser, stream bool) io.ReadCloser {
	if !x.notices() {
		return body
	}
	x.made = wire.NewMade(x.endpoint, stream)
	return noticed{body, x.made}
}

// own records what the provider has stored of an answer, once it has ended, however it ended. The caller may name the whole of
// it, with all that was said before, or the items in it; and the containers that its code ran in, though nothing is stored,
// since items that are sent back name them.
func (x *exchange) own() {
	if x.adding == nil && x.made == nil {
		return
	}
	whole, said := x.readAndSaid()
	more, moreSaid := x.more()
	switch {
	case x.adding == nil:
	case x.inDoubt():
		x.owned = x.adding.leave(addSaturating(x.outcome.over, max(0, more-x.moreTold)))
	default:
		x.owned = x.adding.end(x.added(whole, said, more))
	}
	if x.made == nil {
		return
	}
	row := func(id string, kind ledger.ObjectKind, of string, tokens int64) *ledger.Owned {
		return &ledger.Owned{ID: id, Kind: kind, Key: x.caller.name, Upstream: x.route.upstream.Name, Of: of, Tokens: tokens}
	}
	var list []*ledger.Owned
	switch {
	case x.made.ID == "": // it broke off before it said so much
	case x.stores && x.endpoint == wire.Responses:
		tokens, of := x.carries(max(whole, x.leftOut(said)), more)
		list = append(list, row(x.made.ID, ledger.Response, of, tokens))
	case x.stores:
		list = append(list, row(x.made.ID, ledger.Completion, "", whole))
	}
	kind := ledger.Item
	if x.claimed.conversation != "" {
		kind = ledger.ConversationItem
	}
	if x.keeps() {
		tokens := addSaturating(addSaturating(said, moreSaid), x.found(said))
		for _, id := range x.made.Parts {
			list = append(list, row(id, kind, x.made.ID, tokens))
		}
	}
	for _, id := range x.made.Containers {
		list = append(list, row(id, ledger.Container, "", 0))
	}
	if len(list) > 0 {
		x.owned = x.server.owners.add(list) // later than what has grown, or together with it
	}
}

// readAndSaid is how many tokens the call has read and written, all together, and how many it has written: as reported, if the answer
// was whole; else at least what was reserved.
func (x *exchange) readAndSaid() (whole, said int64) {
	if x.outcome.basis == chargeReported {
		said = x.outcome.usage.Output
		whole = addSaturating(x.outcome.usage.Input, said)
		if x.outcome.ending == "complete" {
			return whole, said
		}
	}
	return max(whole, x.boundTokens()), max(said, x.bound(x.estimate.MaxOutput).Output)
}

// leftOut is all that the provider has stored of a call that it may have shown the model less of than there was, and so reports less of; 0: it has shown all.
func (x *exchange) leftOut(said int64) int64 {
	if !x.shortens {
		return 0
	}
	before := reads(x.facts, x.claimed.tokens, x.claimed.more)
	told := x.estimate.Input - x.estimate.ByPart[cost.PartHosted] - x.estimate.ByPart[cost.PartStored]
	return addSaturating(addSaturating(before, told), said)
}

// found is how many tokens tools have found that the provider ran, at most: they are in the items of the answer, though the model did not say
// them. Each of them is reported as often as the model has read it, with the prompt; so it is no more than a tool finds by its price list, or than
// the answer shows.
func (x *exchange) found(said int64) int64 {
	hosted := x.estimate.ByPart[cost.PartHosted]
	if hosted == 0 {
		return 0
	}
	most := hosted
	if n := x.estimate.HostedCalls; n > 0 {
		most = min(most, (n+1)*x.estimate.HostedTokens) // one tool may run once besides
	}
	if x.outcome.basis == chargeReported && x.outcome.ending == "complete" {
		most = min(most, max(0, x.outcome.usage.Input-(x.estimate.Input-hosted)))
	}
	if x.answer != nil {
		most = max(most, x.answer.Counted()-said)
	}
	return most
}
