package cost

// Usage is what a call consumed, in tokens, as the provider reported it or as we counted it. Details are parts of the
// totals and are never added to them: CachedInput and CacheWrite lie inside Input, Reasoning lies inside Output.
type Usage struct {
	Input       int64 // every input token, cached or not
	CachedInput int64 // the part of Input read from the provider's prompt cache
	CacheWrite  int64 // the part of Input written to the provider's prompt cache
	Output      int64 // every output token, the hidden ones included
	Reasoning   int64 // the part of Output spent on hidden reasoning
}
