package proxy

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

// listing is how the objects of a kind are listed.
type listing struct {
	kind     ledger.ObjectKind
	query    []string // what passes of the query
	ordinary int      // how many are listed where the caller does not say
	most     int      // that may be asked for
	page     int      // that are asked of the upstream at once
	pages    int      // that are read for one list
}

// pageBytes is the largest page that is read.
const pageBytes = 16 << 20

func (c *stored) listCompletions() error {
	return c.list(listing{ledger.Completion, []string{"model", "metadata", "order"}, 20, 100, 20, 250})
}

func (c *stored) listFiles() error {
	return c.list(listing{ledger.File, []string{"purpose", "order"}, 10_000, 10_000, 1000, 20})
}

// list lists what the caller owns.
func (c *stored) list(l listing) error {
	limit, q, err := c.listQuery(l)
	if err != nil {
		return err
	}
	out, failed, err := c.gather(l, limit, q)
	switch {
	case err != nil:
		return err
	case failed != nil:
		return c.relay(failed, nil, nil)
	}
	return writeJSON(c.w, out.JSON())
}

// gather picks what the caller owns from what the upstream lists of all keys, whose pages are read until there is enough. No id of
// another's ever leaves, nor can one be used as a cursor. An error of the upstream's is returned as it answered.
func (c *stored) gather(l listing, limit int, q url.Values) (out *wire.Page, failed *http.Response, err error) {
	done, err := c.turn()
	if err != nil {
		return nil, nil, err
	}
	defer done()
	out = &wire.Page{}
	for n := 0; ; n++ {
		if n == l.pages {
			if len(out.Entries) == 0 {
				c.w.Header().Set("x-should-retry", "false") // it would take as many requests again
				return nil, nil, badGateway(http.StatusServiceUnavailable, "list_too_long", fmt.Sprintf(
					"None of the first %d objects of the account is yours, and no more are looked at. Ask for fewer: by model, by metadata, or by purpose.", l.pages*l.page,
				))
			}
			out.More = true
			break
		}
		page, resp, err := c.readPage(l, q)
		if err != nil || page == nil {
			return nil, resp, err
		}
		if out.Entries, err = c.ours(l.kind, out.Entries, page.Entries); err != nil {
			return nil, nil, err
		}
		if len(out.Entries) > limit {
			out.Entries, out.More = out.Entries[:limit], true
			break
		}
		if !page.More || len(page.Entries) == 0 {
			break
		}
		last := page.Entries[len(page.Entries)-1].ID
		if !wire.IsID(last) || last == q.Get("after") {
			return nil, nil, c.oddList()
		}
		q.Set("after", last)
	}
	return out, nil, nil
}

// turn waits until no other list is made for the caller: one counts against no budget, and may be many requests to the upstream.
func (c *stored) turn() (done func(), err error) {
	done, ok := c.server.listing.take(c.r.Context(), c.exchange.caller.name)
	switch {
	case ok:
		return done, nil
	case c.r.Context().Err() != nil:
		return nil, c.r.Context().Err()
	}
	c.w.Header().Set("Retry-After", "5")
	return nil, &wire.Error{
		Status: http.StatusTooManyRequests, Type: "requests", Code: "rate_limit_exceeded",
		Message: "Other lists for your key are still being made, and one is made at a time. Please try again in 5s (a guess).",
	}
}

// listQuery reads what is asked of a list, and makes of it what the upstream is asked for.
func (c *stored) listQuery(l listing) (limit int, q url.Values, err error) {
	asked, err := c.query(append([]string{"limit", "after"}, l.query...))
	if err != nil {
		return 0, nil, err
	}
	limit = l.ordinary
	if text := asked.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > l.most {
			return 0, nil, badQuery("limit", fmt.Sprintf(`The parameter "limit" must be a whole number from 1 to %d.`, l.most))
		}
	}
	q = asked
	if after := asked.Get("after"); after != "" {
		found, err := c.server.owners.find(c.r.Context(), c.exchange.caller.name, []string{after})
		if err != nil {
			return 0, nil, unreadable(err)
		}
		if row, ok := found[after]; !ok || row.Kind != l.kind || row.Upstream != c.upstream.Name {
			return 0, nil, noObject(l.kind, after)
		}
		q.Set("after", after)
	}
	q.Set("limit", strconv.Itoa(l.page))
	return limit, q, nil
}

// readPage reads a page; nil if the upstream answers with an error.
func (c *stored) readPage(l listing, q url.Values) (*wire.Page, *http.Response, error) {
	resp, err := c.ask(http.MethodGet, kindPaths[l.kind], q, nil)
	if err != nil || resp.StatusCode >= 400 {
		return nil, resp, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, pageBytes+1))
	if err != nil || len(body) > pageBytes {
		return nil, nil, c.oddList()
	}
	page, err := wire.ReadPage(body)
	if err != nil {
		return nil, nil, c.oddList()
	}
	return page, resp, nil
}

func (c *stored) oddList() error {
	return badGateway(http.StatusBadGateway, "upstream_failed", "The upstream "+c.upstream.Name+" answered with a list that could not be read.")
}

// ours adds those of some entries that the caller owns.
func (c *stored) ours(kind ledger.ObjectKind, list, entries []wire.PageEntry) ([]wire.PageEntry, error) {
	var ids []string
	for _, e := range entries {
		if wire.IsID(e.ID) {
			ids = append(ids, e.ID)
		}
	}
	found, err := c.server.owners.find(c.r.Context(), c.exchange.caller.name, ids)
	if err != nil {
		return nil, unreadable(err)
	}
	for _, e := range entries {
		if row, ok := found[e.ID]; ok && row.Kind == kind && row.Upstream == c.upstream.Name {
			if wire.Failed(e.JSON) {
				e.JSON = c.upstream.Redact(e.JSON)
			}
			list = append(list, e)
		}
	}
	return list, nil
}
