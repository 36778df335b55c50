// Package cost says what a call to a language model may use before it is made, and what it did cost afterwards. It knows
// tokens and prices; it knows no HTTP, no storage and no budgets.
//
//	catalog, err := cost.DefaultCatalog()
//	model := catalog.Model("gpt-5-mini")
//	estimate := cost.NewEstimator().Estimate(request, model)
//	reserve := model.Price.Ceiling(estimate.Input, estimate.MaxOutput) // before the call
//	charge := model.Price.Cost(usage)                                  // after it
//
// The words: a Request is the facts that an estimate needs, whatever endpoint they came from. An Estimate is an upper
// bound for tokens, as firm as its Basis says. Usage is what was really consumed. A Model is what a Catalog knows about
// a name: vocabulary, limits, Price. NanoUSD is money, in integers.
//
// Tokens are int64 and money is NanoUSD, never a float; sums saturate instead of wrapping, and amounts that cannot be
// (negative counts, details larger than their total) are read as the nearest possible ones, because requests and usage
// reports come from outside. Prices are rounded up to a nano-dollar, so nothing is free by rounding.
//
// Not here: image sizes (an image costs a flat amount for each model), surcharges for tools that the provider runs,
// service tiers, and prices that depend on a region.
package cost
