package soak

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// charge is what a call has to cost: exactly that, where least and most are equal.
type charge struct {
	least, most cost.Usage
	nothing     bool // it costs nothing, and counts as no request
	whole       bool // it costs what it had reserved, with what it has drawn
}

func exactly(u cost.Usage) charge { return charge{least: u, most: u} }

// reservation is all that a call has reserved, and drawn since.
func reservation(x *ledger.Exchange) charge {
	u := x.Begin.Most
	for i := range x.Draws {
		u.Input, u.Output = u.Input+x.Draws[i].More.Input, u.Output+x.Draws[i].More.Output
	}
	return charge{least: u, most: u, whole: true}
}

// judge says what a call is to be charged by the table of endings in the README, from what the upstream and the client know of
// it and from what it had reserved; or why it cannot have ended as the ledger says.
func judge(p plan, a account, c *call, x *ledger.Exchange) (charge, error) {
	reserved := x.Begin.Most
	if a.asked > 0 && p.kind != drawn && (reserved.Input < a.prompt || reserved.Output < p.output()) {
		return charge{}, fmt.Errorf("%d and %d tokens are reserved, and the upstream may use %d and %d", reserved.Input, reserved.Output, a.prompt, p.output())
	}
	switch ending := x.End.Ending; ending {
	case "never_connected":
		if a.asked > 0 {
			return charge{}, fmt.Errorf("the upstream has the whole request")
		}
		return charge{nothing: true}, nil
	case "upstream_error":
		if a.status < 400 {
			return charge{}, fmt.Errorf("the upstream's status is %d", a.status)
		}
		return charge{nothing: true}, nil
	case "no_status":
		if c.status == http.StatusOK {
			return charge{}, fmt.Errorf("the client has status 200")
		}
		return reservation(x), nil
	case "complete":
		if !a.whole || !a.reported {
			return charge{}, fmt.Errorf("the upstream sent no whole answer that reports usage")
		}
		return exactly(a.usage), nil
	case "complete_unreported":
		if !a.whole || a.reported {
			return charge{}, fmt.Errorf("the upstream sent no whole answer without usage")
		}
		return exactly(cost.Usage{Input: a.prompt, Output: a.words * min(1, p.output())}), nil
	case "incredible_usage":
		if p.day != zero && p.day != negative && p.day != absurd {
			return charge{}, fmt.Errorf("there is nothing wrong with the upstream's usage")
		}
		return reservation(x), nil // it allows for all that the upstream says
	case "broken_reported":
		if !a.reported {
			return charge{}, fmt.Errorf("the upstream has not reported any usage")
		}
		return exactly(cost.Usage{Input: a.usage.Input, Output: max(a.usage.Output, a.words)}), nil
	case "broken_stream":
		if !p.streams() || p.kind == reasoning {
			return charge{}, fmt.Errorf("that is not how a %s breaks", p.kind)
		}
		return charge{least: cost.Usage{Input: a.prompt, Output: c.words}, most: cost.Usage{Input: a.prompt, Output: a.words}}, nil
	case "broken":
		if p.streams() && p.kind != reasoning && p.day != badChunk {
			return charge{}, fmt.Errorf("that is not how a %s breaks", p.kind)
		}
		return reservation(x), nil
	case "ended_budget":
		if p.kind != drawn {
			return charge{}, fmt.Errorf("a %s does not draw", p.kind)
		}
		return charge{least: cost.Usage{Input: a.prompt, Output: c.words}, most: cost.Usage{Input: a.prompt, Output: a.words}}, nil
	case ledger.Crashed:
		if !c.forgot {
			return charge{}, fmt.Errorf("the program was not killed while it ran, or soon afterwards")
		}
		return reservation(x), nil
	default:
		return charge{}, fmt.Errorf("the README has no such ending")
	}
}

// output is how many tokens the upstream may answer with.
func (p plan) output() int64 {
	if p.kind == embeddings {
		return 0
	}
	return int64(p.most)
}

// within reports whether a usage is what was to be charged.
func (c charge) within(u cost.Usage) bool {
	return u.Input >= c.least.Input && u.Input <= c.most.Input && u.Output >= c.least.Output && u.Output <= c.most.Output
}

// errForNothing is what no call ends with, but for the few that time out where the machine has other things to do.
var errForNothing = errors.New("nothing was wrong")

// seen says what is wrong with what the client has: an answer that looks whole and is not, or more than is charged.
func seen(p plan, a account, c *call, x *ledger.Exchange) error {
	switch {
	case c.happened == "waited too long":
		return fmt.Errorf("the client waited for a minute")
	case a.asked > 1:
		return fmt.Errorf("the upstream was asked %d times", a.asked)
	case x == nil && a.asked > 0 && (!c.forgot || c.status > 0 && c.status < 400): // an error is nothing of an answer
		return fmt.Errorf("the upstream was asked, the client has %d bytes, and the ledger does not know it", c.bytes)
	case x == nil && c.status == http.StatusOK:
		return fmt.Errorf("the client has status 200, and the ledger does not know it")
	case x == nil:
		return nil
	case x.Begin.Series.Key != p.key:
		return fmt.Errorf("it is charged to key %s", x.Begin.Series.Key)
	case c.words > x.End.Usage.Output:
		return fmt.Errorf("the client has %d words, and is charged %d tokens of output", c.words, x.End.Usage.Output)
	case c.status == http.StatusOK && c.clean && c.done && !a.whole:
		return fmt.Errorf("the client takes the answer for whole, and the upstream broke off")
	case c.status == http.StatusOK && c.clean && p.streams() && !c.done:
		return fmt.Errorf("the client's stream ended in order, and not as streams end")
	case c.status == http.StatusOK && c.clean && p.kind != embeddings && a.whole && c.words != a.words:
		return fmt.Errorf("the client has %d words of %d", c.words, a.words)
	case p.day == whole && p.way == reads && a.status == http.StatusOK && !c.killed && (c.status != http.StatusOK || !c.clean || !c.done) && x.End.Ending != "ended_budget":
		return fmt.Errorf("%w, and the client has status %d and %d bytes: %s", errForNothing, c.status, c.bytes, c.happened)
	}
	return nil
}

// refusal says what is wrong with the answer to a call that should not go upstream.
func refusal(p plan, c *call) error {
	want := map[kind]int{brokenJSON: http.StatusBadRequest, unknownModel: http.StatusNotFound, wrongKey: http.StatusUnauthorized, tooLarge: http.StatusBadRequest}[p.kind]
	if want == 0 || c.status == 0 || c.status == http.StatusServiceUnavailable {
		return nil
	}
	if c.status != want {
		return fmt.Errorf("status %d, want %d: %.200s", c.status, want, c.body)
	}
	return nil
}
