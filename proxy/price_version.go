package proxy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sync"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// priceVersions names the prices of a policy for the ledger: a digest of all that the price says.
type priceVersions struct {
	mu    sync.Mutex
	known map[pricedModel]string // guarded by mu
}

// pricedModel is what a price hangs on, before a call says how it wants to be served.
type pricedModel struct {
	route *route
	model string // the list's name for it; empty: the price is the route's own
}

// priceVersion returns the version of the price of an exchange's model, and tells the ledger what it is when it is first asked
// for. It is empty where there is no price.
func (p *Policy) priceVersion(x *exchange, w *ledger.Writer) string {
	if !x.facts.Priced {
		return ""
	}
	key := pricedModel{route: x.route}
	if x.facts.Source == cost.Embedded || x.facts.Source == cost.FromFile {
		key.model = x.facts.Name
	}
	v := p.versions
	v.mu.Lock()
	defer v.mu.Unlock()
	if version, known := v.known[key]; known {
		return version
	}
	// As the list or the configuration says, whatever this call has asked for.
	card, err := json.Marshal(x.route.facts(p.catalog, x.model).Price)
	if err != nil {
		panic("BUG: a price that JSON cannot hold: " + err.Error())
	}
	sum := sha256.Sum256(card)
	version := hex.EncodeToString(sum[:6])
	w.Price(ledger.PriceCard{Version: version, Card: string(card)})
	if v.known == nil {
		v.known = map[pricedModel]string{}
	}
	v.known[key] = version
	return version
}
