package proxy

import (
	"context"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// mostKnown is how many objects this process remembers beside the ledger: some 5 MB.
const mostKnown = 16 << 10

// owners says whose the objects are that providers store. The ledger knows; what this process has had made lately is
// remembered, so that it need not be read, and is known though the ledger cannot be read just now.
//
// A key is told of its own objects only: what another key owns is looked for in the same places as what does not exist, and
// is found in none.
type owners struct {
	writer *ledger.Writer // nil: there is no ledger, and nobody owns anything

	mu      sync.Mutex
	known   map[string]ledger.Owned // guarded by mu
	order   []string                // guarded by mu; those in known, a ring once it is full
	next    int                     // guarded by mu; of the ring
	made    time.Time               // guarded by mu; when the last were added
	growing map[string]*additions   // guarded by mu; conversations, by their ids, that somebody may put something into
}

// find returns those of some objects that a key owns, by their ids.
func (o *owners) find(ctx context.Context, key string, ids []string) (map[string]ledger.Owned, error) {
	found := make(map[string]ledger.Owned, len(ids))
	var grow map[string]ledger.Owned // conversations: others may have added to them
	var late map[string]int64        // tokens that those in the ledger may not have yet
	var ask []string
	now := time.Now()
	o.mu.Lock()
	for _, id := range ids {
		row, ok := o.known[id]
		if conversation, is := strings.CutSuffix(id, begunRow); is {
			if all := o.growing[conversation]; all != nil && all.unstored > 0 {
				if late == nil {
					late = map[string]int64{}
				}
				late[id] = all.unstored
			}
		}
		if conversation, is := strings.CutSuffix(id, endedRow); is && ok {
			// What has ended is in the conversation's own row instead. Where that is as the ledger has it, this must be, too: it may be behind.
			_, ok = o.known[conversation]
		}
		switch {
		case !ok || row.Key != key || row.Forgotten(now):
			ask = append(ask, id)
		case row.Kind == ledger.Conversation:
			if grow == nil {
				grow = map[string]ledger.Owned{}
			}
			grow[id] = row
			ask = append(ask, id)
		default:
			found[id] = row
		}
	}
	o.mu.Unlock()
	rows, err := o.writer.Owned(ctx, key, ask)
	if err != nil && len(ask) > len(grow) {
		return nil, err
	}
	maps.Copy(found, grow)
	for _, row := range rows {
		row.Tokens = max(addSaturating(row.Tokens, late[row.ID]), grow[row.ID].Tokens)
		found[row.ID] = row
	}
	return found, nil
}

// add records objects that were made. Whoever had an object made first owns it.
func (o *owners) add(list []*ledger.Owned) ledger.Ticket {
	o.remember(list)
	return o.writer.Own(list)
}

// remember says when objects were made, and keeps what is not known yet.
func (o *owners) remember(list []*ledger.Owned) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now() // one for all, and for no others: see itemsOf
	if least := o.made.Add(time.Microsecond); now.Before(least) {
		now = least
	}
	o.made = now
	for _, row := range list {
		row.Made = now
		if _, there := o.known[row.ID]; there {
			continue
		}
		if o.known == nil {
			o.known = make(map[string]ledger.Owned)
		}
		o.known[row.ID] = *row
		if len(o.order) < mostKnown {
			o.order = append(o.order, row.ID)
			continue
		}
		delete(o.known, o.order[o.next])
		o.order[o.next] = row.ID
		o.next = (o.next + 1) % mostKnown
	}
}

// grow records that objects have more tokens.
func (o *owners) grow(list ...*ledger.Growth) ledger.Ticket {
	o.mu.Lock()
	for _, g := range list {
		if row, ok := o.known[g.ID]; ok {
			row.Tokens = addSaturating(row.Tokens, g.Tokens)
			o.known[g.ID] = row
		}
	}
	o.mu.Unlock()
	return o.writer.Grow(list)
}

// remove records that objects were deleted. Their places in the ring stay until they are taken.
func (o *owners) remove(ids ...string) ledger.Ticket {
	gone := make([]*ledger.Growth, 0, len(ids))
	o.mu.Lock()
	for _, id := range ids {
		delete(o.known, id)
		gone = append(gone, &ledger.Growth{ID: id, Gone: true})
	}
	o.mu.Unlock()
	return o.writer.Grow(gone)
}
