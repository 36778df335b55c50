package proxy

import (
	"context"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// OpenCall is a call that runs: what it holds until it has ended.
type OpenCall struct {
	ID    string // of the request, as in the log
	Key   string // the caller's name
	Age   time.Duration
	Holds []Hold
}

// Hold is what a running call holds of one budget.
type Hold struct {
	Budget string // owner and meaning: "key alice: tokens per minute"
	Amount int64  // in the budget's unit; nano-dollars for dollars
}

// OpenCalls lists the calls that hold something of a budget, oldest first. It is empty if the limiter keeps no such list.
func (s *Server) OpenCalls() []OpenCall {
	lister, ok := s.options.Limiter.(interface {
		Open() []limiter.OpenReservation
	})
	if !ok {
		return nil
	}
	var calls []OpenCall
	at := map[string]int{}
	for _, r := range lister.Open() {
		key, id := ownerParts(r.Owner)
		i, seen := at[r.Owner]
		if !seen {
			i = len(calls)
			at[r.Owner] = i
			calls = append(calls, OpenCall{ID: id, Key: key, Age: r.Age})
		}
		for _, c := range r.Charges {
			calls[i].Holds = append(calls[i].Holds, Hold{Budget: c.Budget, Amount: c.N})
		}
	}
	return calls
}

// withOwner says in the limiter's list whose the reservations of this call are: never by a secret.
func (x *exchange) withOwner(ctx context.Context) context.Context {
	return limiter.WithOwner(ctx, x.caller.name+" "+x.rec.idText())
}

// ownerParts takes apart what withOwner wrote. An id has no blanks; a name may.
func ownerParts(owner string) (key, id string) {
	blank := strings.LastIndexByte(owner, ' ')
	return owner[:max(0, blank)], owner[blank+1:]
}
