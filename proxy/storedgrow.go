package proxy

import (
	"context"
	"errors"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// What goes into a conversation is counted before it is sent: the provider may have stored it whatever becomes of its answer, and
// calls that begin meanwhile read it. Beside the row of a conversation, which has the tokens that are known, there are two: of what was
// about to go in, at most, and of that part of it of which the end is known. What is between the two may be in the conversation. All of them
// only grow, so that processes which share a ledger, and one that dies, lose nothing.
const (
	begunRow = " begun" // ids of providers have no spaces
	endedRow = " ended"
	moreRow  = " more" // of tokens that are known to be there besides in the other vocabulary
)

// errOvertaken says that a conversation has grown since its size was read.
var errOvertaken = errors.New("the conversation has grown meanwhile")

// additions are what this process is putting into a conversation.
type additions struct {
	users    int   // who may put something in
	running  int   // those that have begun and not ended
	begun    int64 // how many have begun, ever since there were users
	unstored int64 // tokens of those that a reader of the ledger may not see yet
}

// addition is what a request puts into a conversation. It belongs to one goroutine.
type addition struct {
	owners *owners
	id     string // of the conversation
	seen   int64  // additions that had begun when its size was to be read; then this one, too
	alone  bool   // no other of this process was running when it began
	begun  bool   // something is counted for it
	over   bool   // nothing is any more
	tokens int64  // that are counted for it as long as its end is not known
}

// join is to be called before the size of a conversation is read, of whomever it is. [addition.end] must follow.
func (o *owners) join(id string) *addition {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.growing == nil {
		o.growing = make(map[string]*additions)
	}
	all := o.growing[id]
	if all == nil {
		all = &additions{}
		o.growing[id] = all
	}
	all.users++
	return &addition{owners: o, id: id, seen: all.begun}
}

// begin counts so many tokens, and returns when every process sees them that reads the ledger. It fails with [errOvertaken] where the caller has read the size of
// the conversation, and others have begun to put something in since then; else the error is the ledger's, or ctx's.
func (a *addition) begin(ctx context.Context, tokens int64, hasRead bool, row *ledger.Owned) error {
	tokens = min(tokens, mostSize)
	o := a.owners
	o.mu.Lock()
	all := o.growing[a.id]
	if hasRead && all.begun != a.seen {
		o.mu.Unlock()
		return errOvertaken
	}
	a.alone = all.running == 0
	all.begun++
	all.running++
	all.unstored += tokens
	a.seen, a.begun, a.tokens = all.begun, true, tokens
	_, there := o.known[a.id+begunRow]
	o.mu.Unlock()
	if !there {
		o.add(sizes(row, 0))
	}
	err := o.grow(&ledger.Growth{ID: a.id + begunRow, Tokens: tokens}).Stored(ctx)
	o.mu.Lock()
	all.unstored -= tokens
	o.mu.Unlock()
	return err
}

// more counts more tokens. It waits for nothing.
func (a *addition) more(tokens int64) {
	if a != nil && a.begun && !a.over {
		a.tokens = addSaturating(a.tokens, tokens)
		a.owners.grow(&ledger.Growth{ID: a.id + begunRow, Tokens: tokens})
	}
}

// end says how many tokens are in the conversation now for what was put in, and how many more in the other vocabulary. Later calls change
// nothing.
func (a *addition) end(tokens, more int64) (t ledger.Ticket) {
	if a == nil || a.over {
		return t
	}
	a.over = true
	if a.begun {
		t = a.owners.grow(&ledger.Growth{ID: a.id, Tokens: tokens}, &ledger.Growth{ID: a.id + moreRow, Tokens: more}, &ledger.Growth{ID: a.id + endedRow, Tokens: a.tokens})
	}
	a.leaves()
	return t
}

// leaves is the last that happens to an addition.
func (a *addition) leaves() {
	o := a.owners
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.growing[a.id]
	if a.begun {
		all.running--
	}
	if all.users--; all.users == 0 {
		delete(o.growing, a.id)
	}
}

// leave is end where nobody knows whether what was put in is there. It goes on to count besides what is known to be there, with so many tokens more:
// the upstream may store it yet, after calls that are answered meanwhile, whose usage does not show it.
func (a *addition) leave(more int64) (t ledger.Ticket) {
	if a == nil || a.over {
		return t
	}
	a.over = true
	if a.begun && more > 0 {
		t = a.owners.grow(&ledger.Growth{ID: a.id + begunRow, Tokens: more})
	}
	a.leaves()
	return t
}

// amongOthers reports whether others have put something in since this one began, or were at it then, as far as this process knows.
func (a *addition) amongOthers() bool {
	a.owners.mu.Lock()
	defer a.owners.mu.Unlock()
	return !a.alone || a.owners.growing[a.id].begun != a.seen
}

// sizes are the rows beside that of a conversation, which has so many more tokens in the other vocabulary.
func sizes(row *ledger.Owned, more int64) []*ledger.Owned {
	begun, ended, other := *row, *row, *row
	begun.ID, ended.ID, other.ID = row.ID+begunRow, row.ID+endedRow, row.ID+moreRow
	begun.Of, ended.Of, other.Of = row.ID, row.ID, row.ID
	begun.Tokens, ended.Tokens, other.Tokens = 0, 0, more
	return []*ledger.Owned{&begun, &ended, &other}
}

// mayHave is how many tokens may be in a conversation besides those that its row has.
func mayHave(found map[string]ledger.Owned, id string) int64 {
	begun := found[id+begunRow].Tokens
	if begun >= mostSize {
		return mostSize // it counts no further
	}
	return max(0, begun-found[id+endedRow].Tokens)
}

// mostSize is where the rows of a ledger stop growing.
const mostSize = 1 << 50
