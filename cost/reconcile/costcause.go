package reconcile

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
)

// costCause finds why the costs of a line differ whose usage agrees.
func (c *comparison) costCause(l *Line, model []*Line) (Cause, string) {
	here, there := l.Ledger.Cost, l.Provider.Cost
	switch {
	case l.Beyond&CachedInput != 0:
		return CacheShare, fmt.Sprintf("the provider read %s from its cache, the ledger knows of %s: cached input is not reported with the answers, or not read from them",
			counted(l.Provider.CachedInput, "token"), grouped(l.Ledger.CachedInput))
	case l.Ledger.Fees > 0 && c.Tolerance.agree(Cost, int64(minus(here, l.Ledger.Fees)), int64(there)):
		return ToolFees, fmt.Sprintf("%s of what the ledger has are fees of tools, which the export does not count to the model", l.Ledger.Fees)
	case here <= 0:
		return OldPrices, "the ledger charged nothing: the model costs $0 in its price list"
	case near(there, here, 0, 1):
		return NotCharged, "the provider charged next to nothing: tokens that are free, or that another contract pays for"
	}
	times := ratio(int64(there), int64(here), 3)
	if steady, days := steadyFactor(l, model); !steady {
		return OtherPrices, fmt.Sprintf("tokens agree and costs do not: the provider charged %s times on this day, and by another factor on others: some calls are in another service tier, or long prompts or kinds of token have prices that the list does not know", times)
	} else if days > 1 {
		times += fmt.Sprintf(" times on all %d days", days)
	} else {
		times += " times"
	}
	switch {
	case near(there, here, 1, 2):
		return OtherTier, "tokens agree and the provider charged " + times + ": half, which is what the batch and flex tiers cost; if the account's calls are in one, say service_tier under the upstream"
	case near(there, here, 2, 1):
		return OtherTier, "tokens agree and the provider charged " + times + ": double, which is what the priority tier and long prompts cost; if the account's calls are in it, say service_tier under the upstream"
	case near(there, here, 11, 10):
		return OldPrices, "tokens agree and the provider charged " + times + ": a tenth more, which is what data residency costs; if the account has it, say region under the upstream"
	}
	return OldPrices, "tokens agree and the provider charged " + times + ": the price list is out of date, or a discount is agreed; `tokenfare prices " + l.Model + "` shows what was charged"
}

// near reports whether a is b times n / d, within a hundredth of b.
func near(a, b cost.NanoUSD, n, d int64) bool {
	factor := new(big.Rat).SetFrac64(n, d)
	apart := new(big.Rat).Sub(rat(a), new(big.Rat).Mul(rat(b), factor))
	return new(big.Rat).Mul(apart.Abs(apart), big.NewRat(100, 1)).Cmp(new(big.Rat).Abs(rat(b))) <= 0
}

func rat(n cost.NanoUSD) *big.Rat { return new(big.Rat).SetInt64(int64(n)) }

// steadyFactor reports whether the costs of a model differ by one factor on all days whose usage agrees, and on how many
// that is.
func steadyFactor(l *Line, model []*Line) (steady bool, days int) {
	for _, other := range model {
		if other.Compared&Cost == 0 || other.Beyond&Usage != 0 || other.Ledger.Cost <= 0 {
			continue
		}
		days++
		// other's factor times l's ledger is l's provider: both sides times other's ledger
		left := new(big.Rat).Mul(rat(other.Provider.Cost), rat(l.Ledger.Cost))
		right := new(big.Rat).Mul(rat(l.Provider.Cost), rat(other.Ledger.Cost))
		apart := new(big.Rat).Sub(left, right)
		if new(big.Rat).Mul(apart.Abs(apart), big.NewRat(50, 1)).Cmp(new(big.Rat).Abs(right)) > 0 {
			return false, days
		}
	}
	return true, days
}

// sumCause explains the costs of a day, where the export does not have them by model.
func (c *comparison) sumCause(l *Line, model []*Line) (Cause, string) {
	for _, other := range c.lines {
		if other.Date == l.Date && other.Beyond&Usage != 0 {
			return Follows, "follows from the usage of models on this day, which differs"
		}
	}
	if !contains(c.export.Usage, l.Date) {
		return OtherPrices, "the export has the costs of the day alone: give its usage by model, too, to tell prices from calls"
	}
	return c.costCause(l, model)
}

// feeCause explains what tools and other services cost.
func feeCause(l *Line) (Cause, string) {
	switch {
	case len(l.LedgerModels) == 0:
		return ToolFees, "the ledger has no fees on this day, the provider took them for " + strings.Join(l.ProviderModels, ", ") +
			": tools without a price (say tools under the model), or services that do not pass the proxy"
	case len(l.ProviderModels) == 0:
		return ToolFees, "the ledger has fees of tools on this day and the provider took none"
	}
	return ToolFees, "fees differ for " + strings.Join(l.ProviderModels, ", ") + ": what a call of a tool costs (tools under the model), how often it ran, or services that do not pass the proxy"
}
