package proxy

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// TestWhatIsMadeAtOnceIsToldApart: items that were put in by two requests count twice, also if both have as many tokens and came at
// the same moment.
func TestWhatIsMadeAtOnceIsToldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &owners{writer: &ledger.Writer{}}
		var items itemsOf
		for _, id := range []string{"msg_1", "msg_2"} {
			row := &ledger.Owned{ID: id, Of: "conv_1", Kind: ledger.ConversationItem, Tokens: 10}
			o.remember([]*ledger.Owned{row})
			items.add(*row)
		}
		if n := items.tokens(); n != 20 {
			t.Errorf("%d tokens", n)
		}
		if now := time.Now(); o.made.Sub(now) > time.Millisecond {
			t.Errorf("made at %v, it is %v", o.made, now)
		}
	})
}
