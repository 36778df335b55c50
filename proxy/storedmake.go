package proxy

import (
	"errors"
	"math"
	"net/http"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// countedAs is the model as which items are counted that are put into a conversation, before anybody knows which model will
// read them.
const countedAs = "gpt-4o"

// making reads the body of a call that has something made.
func (c *stored) making() (*heldBody, error) {
	if err := c.server.mayRecord(); err != nil {
		return nil, err
	}
	body, err := c.server.readBody(c.exchange.caller, c.w, c.r)
	if err == nil {
		c.exchange.body = body
	}
	return body, err
}

// converse makes a conversation, with the items that the caller puts into it.
func (c *stored) converse() error {
	body, err := c.making()
	if err != nil {
		return err
	}
	defer body.release()
	tokens, err := c.countItems(body.bytes)
	if err != nil {
		return err
	}
	resp, err := c.ask(http.MethodPost, kindPaths[ledger.Conversation], nil, body)
	if err != nil {
		return err
	}
	made := wire.NewMade("", false)
	return c.relay(resp, made, func() ledger.Ticket { return c.own(made.ID, ledger.Conversation, tokens) })
}

// addItems puts items into a conversation, which has more tokens from before they are sent, unless the upstream refuses them.
func (c *stored) addItems() error {
	body, err := c.making()
	if err != nil {
		return err
	}
	defer body.release()
	q, err := c.query([]string{"include"})
	if err != nil {
		return err
	}
	tokens, err := c.countItems(body.bytes)
	if err != nil {
		return err
	}
	adding := c.server.owners.join(c.object.ID)
	counted := tokens
	defer func() { adding.end(counted) }() // unless it has ended well
	if err := c.beginAdding(adding, tokens); err != nil {
		counted = 0
		return err
	}
	resp, err := c.ask(http.MethodPost, c.path()+"/items", q, body)
	if c.undone {
		counted = 0
	}
	if err != nil {
		return err
	}
	made := wire.NewMade("", false)
	return c.relay(resp, made, func() ledger.Ticket {
		last := adding.end(counted)
		var list []*ledger.Owned
		named := wire.Strings(body.bytes, made.Parts) // by the caller, and not made: they may be another's
		for _, id := range made.Parts {
			if !named[id] {
				list = append(list, c.row(id, ledger.ConversationItem, tokens))
			}
		}
		if len(list) > 0 {
			last = c.server.owners.add(list) // later than what has grown, or together with it
		}
		return last
	})
}

// beginAdding counts the tokens of items in their conversation. They may not be sent before.
func (c *stored) beginAdding(adding *addition, tokens int64) error {
	row := c.object
	err := adding.begin(c.r.Context(), tokens, false, &row)
	if errors.Is(err, ledger.ErrUnavailable) {
		return nothingRecorded()
	}
	return err
}

// upload stores a file.
func (c *stored) upload() error {
	body, err := c.making()
	if err != nil {
		return err
	}
	defer body.release()
	file, err := wire.ReadUpload(c.r.Header.Get("Content-Type"), body.bytes)
	if err != nil {
		return err
	}
	c.media = file.ContentType
	resp, err := c.ask(http.MethodPost, kindPaths[ledger.File], nil, body)
	if err != nil {
		return err
	}
	made := wire.NewMade("", false)
	return c.relay(resp, made, func() ledger.Ticket { return c.own(made.ID, ledger.File, file.Tokens) })
}

// row says that an object is the caller's.
func (c *stored) row(id string, kind ledger.ObjectKind, tokens int64) *ledger.Owned {
	return &ledger.Owned{ID: id, Kind: kind, Key: c.exchange.caller.name, Upstream: c.upstream.Name, Of: c.object.ID, Tokens: tokens}
}

// own records that an object is the caller's. What has no id cannot be used again, by nobody.
func (c *stored) own(id string, kind ledger.ObjectKind, tokens int64) ledger.Ticket {
	if id == "" {
		return ledger.Ticket{}
	}
	row := c.row(id, kind, tokens)
	list := []*ledger.Owned{row}
	if kind == ledger.Conversation {
		list = append(list, sizes(row)...)
	}
	return c.server.owners.add(list)
}

// countItems counts the tokens of items, with what they refer to, and checks that the caller owns that.
func (c *stored) countItems(body []byte) (int64, error) {
	rise, err := c.server.sit(c.r.Context(), int64(len(body)))
	if err != nil {
		return 0, err
	}
	defer rise()
	request, err := wire.ReadItems(body)
	if err != nil {
		return 0, err
	}
	uses, err := c.server.claim(c.r.Context(), c.exchange.caller.name, c.upstream.Name, request.Refs)
	if err != nil {
		return 0, err
	}
	facts := request.Cost
	facts.Stored, facts.FileTokens = uses.tokens, addSaturating(facts.FileTokens, uses.files)
	estimate, err := c.server.options.Estimator.EstimateUpTo(c.r.Context(), facts, c.exchange.policy.catalog.Model(countedAs), math.MaxInt64)
	return estimate.Input, err
}
