package proxy

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// stored is a call that concerns what the provider stores. It costs no tokens and counts against no budget.
type stored struct {
	server   *Server
	w        http.ResponseWriter
	r        *http.Request
	exchange *exchange
	object   ledger.Owned   // that the path names; zero: it names none
	upstream *upstreamEntry // that has it, or is to have it
	media    string         // the type that a form is sent with; empty: the body, if there is one, is JSON
	raw      bool           // a success is the caller's own bytes, whatever they are
	undone   bool           // the upstream has certainly not done what it was asked for
}

// storedRoutes adds the paths of what is stored to the allow list.
func (s *Server) storedRoutes(r chi.Router) {
	add := func(method, path string, kind ledger.ObjectKind, h func(c *stored) error) {
		r.Method(method, path, s.handle(func(w http.ResponseWriter, r *http.Request) error { return s.serveStored(kind, h, w, r) }))
	}
	const get, post, remove = http.MethodGet, http.MethodPost, http.MethodDelete
	const response, completion, conversation, file = "/v1/responses/{id}", "/v1/chat/completions/{id}", "/v1/conversations/{id}", "/v1/files/{id}"
	add(get, response, ledger.Response, (*stored).response)
	add(remove, response, ledger.Response, (*stored).remove)
	add(get, response+"/input_items", ledger.Response, pass("/input_items", "include", "after", "before", "limit", "order"))

	r.Method(post, "/v1/responses/compact", s.handle(notFound)) // or it would be taken for an id that takes no POST

	add(get, "/v1/chat/completions", "", (*stored).listCompletions)
	add(get, completion, ledger.Completion, pass(""))
	add(post, completion, ledger.Completion, (*stored).update)
	add(remove, completion, ledger.Completion, (*stored).remove)
	add(get, completion+"/messages", ledger.Completion, pass("/messages", "after", "limit", "order"))

	add(post, "/v1/conversations", "", (*stored).converse)
	add(get, conversation, ledger.Conversation, pass(""))
	add(post, conversation, ledger.Conversation, (*stored).update)
	add(remove, conversation, ledger.Conversation, (*stored).remove)
	add(get, conversation+"/items", ledger.Conversation, pass("/items", "include", "after", "limit", "order"))
	add(post, conversation+"/items", ledger.Conversation, (*stored).addItems)
	add(get, conversation+"/items/{item}", ledger.Conversation, (*stored).item)
	add(remove, conversation+"/items/{item}", ledger.Conversation, (*stored).item)

	add(get, "/v1/files", "", (*stored).listFiles)
	add(post, "/v1/files", "", (*stored).upload)
	add(get, file, ledger.File, pass(""))
	add(remove, file, ledger.File, (*stored).remove)
	add(get, file+"/content", ledger.File, (*stored).content)
}

// kindPaths are where the objects of each kind are.
var kindPaths = map[ledger.ObjectKind]string{
	ledger.Response: "/responses", ledger.Completion: "/chat/completions", ledger.Conversation: "/conversations", ledger.File: "/files",
}

// serveStored finds the object that a path names, whose it is, and where.
func (s *Server) serveStored(kind ledger.ObjectKind, h func(c *stored) error, w http.ResponseWriter, r *http.Request) error {
	c := &stored{server: s, w: w, r: r, exchange: s.begin("", r)}
	p := c.exchange.policy
	if !s.owning(p) {
		return &wire.Error{
			Status: http.StatusNotFound, Type: "invalid_request_error", Code: codeUnserved,
			Message: "This proxy lets nothing be stored at the provider, so there is nothing to be found: send whole conversations as input, " +
				`and "store": false (in the AI SDK providerOptions.openai.store: false, in LangChain zdrEnabled: true).`,
		}
	}
	if kind == "" {
		if c.upstream = p.home(c.exchange.caller); c.upstream == nil {
			return notFound(w, r)
		}
	} else if err := c.find(r.Context(), kind, chi.URLParam(r, "id")); err != nil {
		return err
	}
	c.exchange.writeBudgets(r.Context(), w.Header())
	return h(c)
}

// find checks that the caller owns the object of an id.
func (c *stored) find(ctx context.Context, kind ledger.ObjectKind, id string) error {
	if !wire.IsID(id) {
		return noObject(kind, shorten(id, 128))
	}
	found, err := c.server.owners.find(ctx, c.exchange.caller.name, []string{id})
	if err != nil {
		return unreadable(err)
	}
	row, ok := found[id]
	u := c.exchange.policy.upstreams[row.Upstream]
	if !ok || row.Kind != kind || u == nil {
		return noObject(kind, id)
	}
	c.object, c.upstream = row, u
	return nil
}

// noObject is what OpenAI says of an object that does not exist.
func noObject(kind ledger.ObjectKind, id string) error {
	e := &wire.Error{Status: http.StatusNotFound, Type: "invalid_request_error"}
	switch kind {
	case ledger.Response:
		e.Message = fmt.Sprintf("Response with id '%s' not found.", id)
	case ledger.Conversation:
		e.Message = fmt.Sprintf("Conversation with id '%s' not found.", id)
	case ledger.Completion:
		e.Message = fmt.Sprintf("Chat completion with id '%s' not found.", id)
	default:
		e.Message, e.Param = "No such File object: "+id, "id"
	}
	return e
}

// home is the upstream at which objects are made for which no model is named: that of OpenAI, if the caller may use a model
// there; else the first by name of those that serve one.
func (p *Policy) home(c *caller) *upstreamEntry {
	serves := map[*upstreamEntry]bool{}
	for _, pool := range p.pools {
		if isGlob(pool.pattern) || c.mayUse(pool.pattern) {
			for _, r := range pool.routes {
				serves[r.upstream] = true
			}
		}
	}
	var first *upstreamEntry
	for _, u := range p.upstreamsInOrder() {
		switch {
		case !serves[u]:
		case strings.HasSuffix(u.Endpoint("").Hostname(), "openai.com"):
			return u
		case first == nil:
			first = u
		}
	}
	return first
}

// path is where the object is, at its upstream.
func (c *stored) path() string { return kindPaths[c.object.Kind] + "/" + c.object.ID }

// pass relays what the upstream says of the object, or of a part of it. The parts of an object are its owner's.
func pass(part string, query ...string) func(c *stored) error {
	return func(c *stored) error {
		q, err := c.query(query)
		if err != nil {
			return err
		}
		resp, err := c.ask(http.MethodGet, c.path()+part, q, nil)
		if err != nil {
			return err
		}
		return c.relay(resp, nil, nil)
	}
}

// response relays a response as it is stored. As a stream it cannot be had again: whoever asks for one would wait for events in vain.
func (c *stored) response() error {
	asked := c.r.URL.Query()
	for _, name := range []string{"stream", "starting_after"} {
		if v, there := asked[name]; there && !(name == "stream" && len(v) == 1 && v[0] == "false") {
			return &wire.Error{
				Status: http.StatusBadRequest, Type: "invalid_request_error", Code: wire.CodeUnsupportedMember, Param: name,
				Message: fmt.Sprintf("The parameter %q is not served here: leave it out, and read the response as a whole.", name),
			}
		}
	}
	return pass("", "include")(c)
}

// content relays what is in a file.
func (c *stored) content() error {
	c.raw = true
	return pass("/content")(c)
}

// item relays or deletes one item of a conversation. The upstream looks for it there and nowhere else.
func (c *stored) item() error {
	item := chi.URLParam(c.r, "item")
	if !wire.IsID(item) {
		return missing(wire.Ref{Kind: wire.ItemRef, ID: shorten(item, 128), Param: "item_id"})
	}
	q, err := c.query([]string{"include"})
	if err != nil {
		return err
	}
	resp, err := c.ask(c.r.Method, c.path()+"/items/"+item, q, nil)
	if err != nil {
		return err
	}
	return c.relay(resp, nil, nil)
}

// remove deletes the object. It is nobody's as soon as the upstream has said that it is gone.
func (c *stored) remove() error {
	resp, err := c.ask(http.MethodDelete, c.path(), nil, nil)
	if err != nil {
		return err
	}
	ids := []string{c.object.ID}
	if c.object.Kind == ledger.Conversation {
		ids = append(ids, c.object.ID+begunRow, c.object.ID+endedRow, c.object.ID+moreRow)
	}
	return c.relay(resp, nil, func() ledger.Ticket { return c.server.owners.remove(ids...) })
}

// update changes the object's metadata.
func (c *stored) update() error {
	body, err := c.server.readBody(c.exchange.caller, c.w, c.r)
	if err != nil {
		return err
	}
	defer body.release()
	c.exchange.body = body
	if err := wire.CheckUpdate(body.bytes); err != nil {
		return err
	}
	resp, err := c.ask(http.MethodPost, c.path(), nil, body)
	if err != nil {
		return err
	}
	return c.relay(resp, nil, nil)
}

// Bounds of what passes of a query.
const (
	longestParameter = 256
	mostParameters   = 32
)

// query takes from the query what may pass. Names that end with "[" stand for all that begin so.
func (c *stored) query(names []string) (url.Values, error) {
	asked, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return nil, badQuery("", "The query of the address cannot be read.")
	}
	out, n := url.Values{}, 0
	for name, values := range asked {
		plain, _, _ := strings.Cut(name, "[")
		for _, known := range names {
			if plain != known || plain != name && known != "include" && known != "metadata" {
				continue
			}
			if n += len(values); n > mostParameters {
				return nil, badQuery("", fmt.Sprintf("The query has more than %d parameters.", mostParameters))
			}
			for _, v := range values {
				if len(name)+len(v) > longestParameter || (name == "after" || name == "before") && !wire.IsID(v) {
					return nil, badQuery(known, fmt.Sprintf("The parameter %q cannot be read.", known))
				}
			}
			out[name] = values
		}
	}
	return out, nil
}

func badQuery(param, message string) error {
	return &wire.Error{Status: http.StatusBadRequest, Type: "invalid_request_error", Code: wire.CodeInvalidValue, Param: param, Message: message}
}
