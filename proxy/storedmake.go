package proxy

import (
	"errors"
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
	tokens, more, err := c.countItems(body.bytes)
	if err != nil {
		return err
	}
	resp, err := c.ask(http.MethodPost, kindPaths[ledger.Conversation], nil, body)
	if err != nil {
		return err
	}
	made := wire.NewMade("", false)
	return c.relay(resp, made, func() ledger.Ticket { return c.own(made.ID, ledger.Conversation, tokens, more) })
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
	tokens, more, err := c.countItems(body.bytes)
	if err != nil {
		return err
	}
	adding := c.server.owners.join(c.object.ID)
	counted, besides := tokens, more
	inDoubt := true
	defer func() { // unless it has ended well
		if inDoubt {
			adding.leave(0)
		}
		adding.end(counted, besides)
	}()
	if err := c.beginAdding(adding, addSaturating(tokens, more)); err != nil {
		counted, besides, inDoubt = 0, 0, false
		return err
	}
	resp, err := c.ask(http.MethodPost, c.path()+"/items", q, body)
	if c.undone {
		counted, besides = 0, 0
	}
	inDoubt = !c.undone && (err != nil || resp.StatusCode >= 300)
	if err != nil {
		return err
	}
	made := wire.NewMade("", false)
	return c.relay(resp, made, func() ledger.Ticket {
		last := adding.end(counted, besides)
		var list []*ledger.Owned
		named := wire.Strings(body.bytes, made.Parts) // by the caller, and not made: they may be another's
		for _, id := range made.Parts {
			if !named[id] {
				list = append(list, c.row(id, ledger.ConversationItem, addSaturating(tokens, more)))
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
	return c.relay(resp, made, func() ledger.Ticket { return c.own(made.ID, ledger.File, file.Tokens, 0) })
}

// row says that an object is the caller's.
func (c *stored) row(id string, kind ledger.ObjectKind, tokens int64) *ledger.Owned {
	return &ledger.Owned{ID: id, Kind: kind, Key: c.exchange.caller.name, Upstream: c.upstream.Name, Of: c.object.ID, Tokens: tokens}
}

// own records that an object is the caller's. What has no id cannot be used again, by nobody.
func (c *stored) own(id string, kind ledger.ObjectKind, tokens, more int64) ledger.Ticket {
	if id == "" {
		return ledger.Ticket{}
	}
	row := c.row(id, kind, tokens)
	list := []*ledger.Owned{row}
	if kind == ledger.Conversation {
		list = append(list, sizes(row, more)...)
	}
	return c.server.owners.add(list)
}

// countItems counts the tokens of items, with what they refer to, and how many more they have in the other vocabulary. It checks that the
// caller owns what they refer to.
func (c *stored) countItems(body []byte) (tokens, more int64, err error) {
	rise, err := c.server.sit(c.r.Context(), int64(len(body)))
	if err != nil {
		return 0, 0, err
	}
	defer rise()
	request, err := wire.ReadItems(body)
	if err != nil {
		return 0, 0, err
	}
	uses, err := c.server.claim(c.r.Context(), c.exchange.caller.name, c.upstream.Name, request.Refs)
	if err != nil {
		return 0, 0, err
	}
	return c.itemTokens(request, uses)
}
