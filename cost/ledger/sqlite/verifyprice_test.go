package sqlite_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/cost/ledger"
)

// TestCostsAreThoseOfThePrice: a row is worth nothing as proof of itself. What it had reserved, and what it cost, is worked out again from its
// usage and the price that it names, whatever it was charged for.
func TestCostsAreThoseOfThePrice(t *testing.T) {
	catalog, err := cost.DefaultCatalog()
	if err != nil {
		t.Fatal(err)
	}
	chat, pictures := catalog.Model("gpt-5.6").Price, catalog.Model("dall-e-3").Price
	flex := chat
	flex.Asked = cost.Flex
	hd := pictures.ForPictures(cost.Pictures{N: 1, Quality: cost.HDQuality, Width: 1024, Height: 1792})
	ceiling := func(p cost.Price, u cost.Usage) cost.NanoUSD {
		return p.Ceiling(cost.Bound{Input: u.Input, Output: u.Output, Images: u.Images, Milliseconds: u.Milliseconds, Characters: u.Characters, Fees: u.Fees})
	}
	most, used := cost.Usage{Input: 1000, Output: 500}, cost.Usage{Input: 900, CachedInput: 300, Output: 20, Reasoning: 10}
	long, tools := cost.Usage{Input: 300_000, Output: 500}, cost.Usage{Input: 1000, Output: 500, Fees: 10_000_000}
	picture := cost.Usage{Images: 2}
	served := used
	served.Tier = cost.Priority
	drawn := cost.Usage{Input: 1000, Output: 756}
	for name, one := range map[string]struct {
		version string
		price   cost.Price // as the call was charged
		most    cost.Usage
		basis   string
		ending  string
		used    cost.Usage
		is      cost.NanoUSD
		least   bool // it may be more
	}{
		"reported":            {"chat", chat, most, ledger.Reported, "complete", used, chat.Cost(used), false},
		"of a long prompt":    {"chat", chat, long, ledger.Reported, "complete", long, chat.Cost(long), false},
		"in another tier":     {"chat", chat, most, ledger.Reported, "complete", served, chat.Cost(served), false},
		"asked for flex":      {"chat", flex, most, ledger.Reported, "complete", used, flex.Cost(used), false},
		"counted, with tools": {"chat", chat, tools, ledger.Counted, "broken_stream", tools, chat.Cost(tools), false},
		"unreported":          {"chat", chat, most, ledger.Unreported, "broken", most, ceiling(chat, most), false},
		"unreported, drawn":   {"chat", chat, most, ledger.Unreported, "broken", drawn, ceiling(chat, drawn), false},
		"crashed":             {"chat", chat, most, ledger.Unreported, ledger.Crashed, most, ceiling(chat, most), false},
		"distrusted":          {"chat", chat, most, ledger.Distrusted, "incredible_usage", most, ceiling(chat, most), false},
		"distrusted, longer":  {"chat", chat, most, ledger.Distrusted, "incredible_usage", drawn, max(chat.Cost(drawn), ceiling(chat, most)), true},
		"pictures":            {"pictures", pictures, picture, ledger.Reported, "complete", picture, pictures.Cost(picture), false},
		"pictures of a kind":  {"pictures", hd, picture, ledger.Unreported, "no_status", picture, ceiling(hd, picture), false},
		"at a price unknown":  {"another", chat, most, ledger.Unreported, "broken", most, ceiling(chat, most), true},
	} {
		t.Run(name, func(t *testing.T) {
			// report verifies a ledger with that call, if it had cost so much.
			report := func(reserved, is cost.NanoUSD) *ledger.Report {
				k := newKeeper(t, 1, 1)
				for version, p := range map[string]cost.Price{"chat": chat, "pictures": pictures} {
					card, err := json.Marshal(p)
					if err != nil {
						t.Fatal(err)
					}
					k.batch.Prices = append(k.batch.Prices, ledger.PriceCard{Version: version, Card: string(card)})
				}
				b := &ledger.Begin{Exchange: k.id(time.Now()), Series: ledger.Series{Key: "k0"}, Model: "m", Most: one.most, Reserved: reserved, Price: one.version}
				k.batch.Begins = append(k.batch.Begins, b)
				k.batch.Ends = append(k.batch.Ends, &ledger.End{Exchange: b.Exchange, Seq: k.id(time.Now()), Ending: one.ending, Basis: one.basis, Usage: one.used, Cost: is})
				k.commit(false)
				return k.report(ledger.VerifyOptions{})
			}
			reserved := ceiling(one.price, one.most)
			if r := report(reserved, one.is); !r.Balances() || (r.Unpriced == 0) == (one.version == "another") {
				t.Errorf("as it was charged: %d without a price, %+v", r.Unpriced, r.Differences)
			}
			const little = 2000 // beyond what rounding may come to
			wrong := []cost.NanoUSD{0, one.is - little}
			if !one.least {
				wrong = append(wrong, one.is+little, 2*one.is)
			}
			for _, is := range wrong {
				r := report(reserved, is)
				if len(r.Differences) != 1 || r.Differences[0].Kind != ledger.CostDiffers || r.Differences[0].Is != int64(is) {
					t.Errorf("%s in place of %s: %+v", is, one.is, r.Differences)
				}
			}
			if one.version == "another" {
				return
			}
			if r := report(reserved-little, one.is); len(r.Differences) != 1 || r.Differences[0].Kind != ledger.ReserveDiffers {
				t.Errorf("%s less reserved: %+v", cost.NanoUSD(little), r.Differences)
			}
		})
	}
}
