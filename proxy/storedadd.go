package proxy

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// mostOvertaken is how often a call is admitted anew as its conversation has grown meanwhile.
const mostOvertaken = 4

// join notes which conversation the call will add to, before its size is read.
func (x *exchange) join(refs []wire.Ref) {
	if x.endpoint == wire.InputTokens {
		return
	}
	for _, ref := range refs {
		if ref.Kind == wire.InConversation && x.adding == nil {
			x.adding = x.server.owners.join(ref.ID)
		}
	}
}

// beginAdding counts, in the call's conversation, the most that the call may add to it. Nothing may be sent before.
func (x *exchange) beginAdding(ctx context.Context) error {
	if x.adding == nil {
		return nil
	}
	row := &ledger.Owned{ID: x.claimed.conversation, Kind: ledger.Conversation, Key: x.caller.name, Upstream: x.route.upstream.Name}
	err := x.adding.begin(ctx, x.mayAdd(), true, row)
	if errors.Is(err, ledger.ErrUnavailable) {
		return nothingRecorded()
	}
	return err
}

// mayAdd is the most that the call may add to its conversation: all that it may read and write, but for what is there.
func (x *exchange) mayAdd() int64 {
	return addSaturating(max(0, x.boundTokens()-x.there()), x.moreTold)
}

// there is what the call is reserved for what is in its conversation.
func (x *exchange) there() int64 {
	return min(x.estimate.ByPart[cost.PartStored], addSaturating(x.claimed.context, x.claimed.unsure))
}

// inDoubt reports whether nobody knows what the upstream has stored of the call, or will yet.
func (x *exchange) inDoubt() bool {
	return !x.untouched() && !strings.HasPrefix(x.outcome.ending, "complete")
}

// added is what the call has added to its conversation, as far as is known. The answer was read with all that was there before, of which the
// call may not know all: what others added meanwhile, they count themselves. So what it has added itself counts wherever
// others were there. What it has more in the other vocabulary comes apart.
func (x *exchange) added(whole, said, more int64) (tokens, besides int64) {
	switch {
	case x.untouched():
		return 0, 0
	case x.outcome.basis != chargeReported || x.outcome.ending != "complete":
		return addSaturating(addSaturating(x.adding.tokens, x.outcome.over), max(0, more-x.moreTold)), 0
	case x.adding.amongOthers():
		said = max(said, min(whole, x.adding.tokens-x.bound(x.estimate.MaxOutput).Output+said))
	}
	if x.shortens { // what was reported may be less than there is
		said = max(said, addSaturating(x.estimate.Input-x.estimate.ByPart[cost.PartHosted]-x.there(), said))
	}
	tokens = max(said, whole-x.claimed.context)
	if x.facts.Encoding == otherVocabulary { // it has read and written more than others will, or else no less
		return addSaturating(tokens, more), 0
	}
	return tokens, more
}

// untouched reports whether the upstream has certainly stored nothing of the call.
func (x *exchange) untouched() bool {
	return !x.begun || refusedFor(x.status) || x.status == 0 && !x.written
}

// refusedFor reports whether an upstream that answers with this status has refused the request for what it is, or who it came from, and so
// stored nothing of it. With any other error it may have failed later than that.
func refusedFor(status int) bool { return status >= 400 && status < 500 }

// locked is what OpenAI says of a conversation that somebody else is at.
func locked() error {
	return &wire.Error{
		Status: http.StatusConflict, Type: "invalid_request_error", Code: "conversation_locked", Param: "conversation",
		Message: "Others put something into this conversation at the same time. Nothing is charged for this call. Please try again in a moment.",
	}
}
