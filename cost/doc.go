// Package cost says what a call to a language model may use before it is made, and what it did cost afterwards. It knows
// tokens and prices; it knows no HTTP, no storage and no budgets.
//
//	catalog, err := cost.DefaultCatalog()
//	model := catalog.Model("gpt-5-mini")
//	estimate := cost.NewEstimator().Estimate(request, model)
//	price := model.Price.ForPictures(request.Pictures) // where pictures are billed by piece
//	reserve := price.Ceiling(estimate.Bound())         // before the call
//	charge := price.Cost(usage)                        // after it
//
// The words: a Request is the facts that an estimate needs, whatever endpoint they came from. An Estimate is an upper
// bound for tokens, as firm as its Basis says. Usage is what was really consumed; its normal form takes it apart into
// Items, whose quantities sum to the whole. A Price has a rate for each item, by the size of the prompt, the service Tier
// and the region. A Model is what a Catalog knows about a name: vocabulary, limits, Price. NanoUSD is money, in integers.
//
// Tokens are int64 and money is NanoUSD, never a float; sums saturate instead of wrapping, and amounts that cannot be
// (negative counts, details larger than their total) are read as the nearest possible ones, because requests and usage
// reports come from outside. Every item of a bill is rounded up to a nano-dollar by itself, so nothing is free by
// rounding, and what a price list leaves out is filled in so that no call is charged too little (see Card).
//
// Prices are those of a list in the program, of a file in LiteLLM's public form (Catalog.With), or of the caller's making.
//
// Not here: surcharges for what the provider stores, and for caches that are kept for an hour.
package cost
