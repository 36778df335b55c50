package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// owning reports whether calls may use what providers store: where it is known whose that is.
func (s *Server) owning(p *Policy) bool { return !p.stateless && s.owners.writer != nil }

// claimed is what a call uses of what the provider stores.
type claimed struct {
	tokens       int64  // that it brings into the prompt, in the usual vocabulary
	more         int64  // that it brings besides in the other
	files        int64  // tokens of files, likewise
	conversation string // that the answer is added to; empty: none
	context      int64  // tokens that this one is known to have, as the model reads it
	unsure       int64  // that it may have besides
	moreContext  int64  // that it is known to have besides in the other vocabulary
}

// claim checks that the caller owns every object that the request names, and returns the request with what they add to its
// prompt. Where nothing may be stored it refuses requests that would.
func (x *exchange) claim(ctx context.Context, request *wire.Request) (*wire.Request, error) {
	if !x.server.owning(x.policy) {
		return request, request.Stateless()
	}
	x.stores = request.Stores
	x.runs = x.endpoint == wire.Responses && len(request.Cost.Hosted) > 0
	if len(request.Refs) > 0 {
		x.join(request.Refs)
		var err error
		if x.claimed, err = x.server.claim(ctx, x.caller.name, x.route.upstream.Name, request.Refs); err != nil {
			return nil, err
		}
	}
	if x.keeps() {
		if err := request.Lingers(); err != nil {
			return nil, err
		}
	}
	if len(request.Refs) == 0 {
		return request, nil
	}
	more := *request
	more.Cost.Stored = reads(x.facts, x.claimed.tokens, x.claimed.more)
	if request.Shortens && x.facts.Context > 0 {
		more.Cost.Stored = min(more.Cost.Stored, x.facts.Context)
	}
	if readsMore(x.facts) {
		x.claimed.context = addSaturating(x.claimed.context, x.claimed.moreContext)
	}
	more.Cost.FileTokens = addSaturating(more.Cost.FileTokens, x.claimed.files)
	return &more, nil
}

// claim checks that a key owns what references are to, and that it is at the upstream that will be asked for it.
func (s *Server) claim(ctx context.Context, key, upstream string, refs []wire.Ref) (c claimed, err error) {
	ids := make([]string, 0, len(refs))
	for _, ref := range refs {
		ids = append(ids, ref.ID)
		if ref.Kind == wire.InConversation {
			ids = append(ids, ref.ID+begunRow, ref.ID+endedRow, ref.ID+moreRow)
		}
	}
	slices.Sort(ids)
	found, err := s.owners.find(ctx, key, slices.Compact(ids))
	if err != nil {
		return c, unreadable(err)
	}
	var items itemsOf
	for _, ref := range refs {
		row, ok := found[ref.ID]
		if !ok || !slices.Contains(kindsOf[ref.Kind], row.Kind) {
			return c, missing(ref)
		}
		if row.Upstream != upstream {
			return c, elsewhere(ref, row.Upstream, upstream)
		}
		switch ref.Kind {
		case wire.PreviousResponse:
			c.tokens, c.more = addSaturating(c.tokens, row.Tokens), addSaturating(c.more, moreOf(row))
		case wire.InConversation:
			c.conversation, c.context, c.unsure = row.ID, row.Tokens, mayHave(found, row.ID)
			c.tokens = addSaturating(c.tokens, addSaturating(c.context, c.unsure))
			c.moreContext = found[row.ID+moreRow].Tokens
			c.more = addSaturating(c.more, c.moreContext)
		case wire.ItemRef:
			items.add(row)
		case wire.FileRef:
			c.files = addSaturating(c.files, row.Tokens)
		}
	}
	c.tokens = addSaturating(c.tokens, items.tokens())
	return c, nil
}

// kindsOf are the objects that a reference may be to.
var kindsOf = [...][]ledger.ObjectKind{
	wire.PreviousResponse: {ledger.Response},
	wire.InConversation:   {ledger.Conversation},
	wire.ItemRef:          {ledger.Item, ledger.ConversationItem},
	wire.FileRef:          {ledger.File},
	wire.PictureRef:       {ledger.File},
	wire.MountedRef:       {ledger.File},
	wire.ContainerRef:     {ledger.Container},
}

// itemsOf adds up items. What is known is how many tokens all that were made together have: they count once, however many of
// them are named, and again for each time that one of them is named again.
type itemsOf struct {
	groups map[itemGroup]map[string]int64
}

type itemGroup struct {
	of     string
	made   time.Time
	tokens int64
}

func (i *itemsOf) add(row ledger.Owned) {
	if i.groups == nil {
		i.groups = map[itemGroup]map[string]int64{}
	}
	g := itemGroup{row.Of, row.Made.Truncate(time.Microsecond).UTC(), row.Tokens}
	if i.groups[g] == nil {
		i.groups[g] = map[string]int64{}
	}
	i.groups[g][row.ID]++
}

func (i *itemsOf) tokens() (sum int64) {
	for g, named := range i.groups {
		times := int64(0)
		for _, n := range named {
			times = max(times, n)
		}
		for range times {
			sum = addSaturating(sum, g.tokens)
		}
	}
	return sum
}

// missing is what OpenAI says of an object that does not exist. It is said of those of others, too.
func missing(ref wire.Ref) *wire.Error {
	e := &wire.Error{Status: http.StatusNotFound, Type: "invalid_request_error", Param: ref.Param}
	switch ref.Kind {
	case wire.PreviousResponse:
		e.Code = "previous_response_not_found"
		e.Message = fmt.Sprintf("Previous response with id '%s' not found.", ref.ID)
	case wire.InConversation:
		e.Message = fmt.Sprintf("Conversation with id '%s' not found.", ref.ID)
	case wire.ItemRef:
		e.Message = fmt.Sprintf("Item with id '%s' not found. Items are not persisted when `store` is set to false. "+
			"Try again with `store` set to true, or remove this item from your input.", ref.ID)
	case wire.ContainerRef:
		e.Message = fmt.Sprintf("Container with id '%s' not found.", ref.ID)
	default:
		e.Message = "No such File object: " + ref.ID
	}
	return e
}

// elsewhere is said to the owner of an object that another upstream has than the one that serves the model.
func elsewhere(ref wire.Ref, at, wanted string) error {
	e := missing(ref)
	e.Message += fmt.Sprintf(" It is stored at %s, and this model is served by %s: name a model that %s serves.", at, wanted, at)
	return &elsewhereError{e}
}

// elsewhereError says that the upstream of an attempt does not have what the call is about, or has no place for it. Another may.
type elsewhereError struct{ answer *wire.Error }

// Error is the message the client gets.
func (e *elsewhereError) Error() string { return e.answer.Message }

// Unwrap returns the answer to the client.
func (e *elsewhereError) Unwrap() error { return e.answer }

func unreadable(err error) error {
	if !errors.Is(err, ledger.ErrUnavailable) {
		return err
	}
	return &wire.Error{
		Status: http.StatusServiceUnavailable, Type: "server_error", Code: "ledger_unavailable",
		Message: "This proxy cannot read at the moment whose the objects are that this request names. Nothing is charged for it. " +
			"Please try again in a moment; the operator of this proxy finds the cause in its log.",
	}
}
