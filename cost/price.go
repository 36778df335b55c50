package cost

// Price is what a model costs, in nano-dollars per million tokens. Every field means what it says: zero is free, so
// where nothing is known of the cache, CachedInput and CacheWrite are set to Input. Negative prices are read as zero.
type Price struct {
	Input       NanoUSD // input that was neither read from nor written to the cache
	CachedInput NanoUSD // input read from the cache
	CacheWrite  NanoUSD // input written to the cache
	Output      NanoUSD // all output, reasoning included

	LongAbove int64  // the whole request is billed at Long once its input exceeds this many tokens; 0: there is no such tier
	Long      *Price // the price of long requests; its own LongAbove and Long are ignored
}

// Cost is the price of a finished call: the sum of four items (plain input, cached input, cache writes, output), each
// rounded up to a nano-dollar. Details beyond their total are cut to it, cached input first, and negative counts are
// read as zero. It saturates at the largest NanoUSD.
func (p Price) Cost(u Usage) NanoUSD {
	input := max(0, u.Input)
	if p.isLong(input) {
		p = *p.Long
	}
	cached := min(max(0, u.CachedInput), input)
	written := min(max(0, u.CacheWrite), input-cached)
	sum := p.Input.times(input - cached - written)
	sum = saturatingAdd(sum, p.CachedInput.times(cached))
	sum = saturatingAdd(sum, p.CacheWrite.times(written))
	return saturatingAdd(sum, p.Output.times(u.Output))
}

// Ceiling is the most that a call of up to input and output tokens can cost, however its input is cached: no smaller
// Usage has a higher Cost. The long tier counts as soon as input can reach it. It saturates at the largest NanoUSD.
func (p Price) Ceiling(input, output int64) NanoUSD {
	in, out, granular := p.dearestInput(), p.Output, p.wholePerToken()
	if p.isLong(input) {
		in, out = max(in, p.Long.dearestInput()), max(out, p.Long.Output)
		granular = granular && p.Long.wholePerToken()
	}
	sum := saturatingAdd(in.times(input), out.times(output))
	if !granular && input > 1 {
		// Cost rounds each of three kinds of input up by itself, which may add a nano-dollar twice.
		sum = saturatingAdd(sum, NanoUSD(min(2, input-1)))
	}
	return sum
}

func (p Price) isLong(input int64) bool {
	return p.LongAbove > 0 && p.Long != nil && input > p.LongAbove
}

func (p Price) dearestInput() NanoUSD {
	return max(p.Input, p.CachedInput, p.CacheWrite)
}

// wholePerToken reports whether a token of input costs a whole number of nano-dollars, so that nothing is ever rounded.
func (p Price) wholePerToken() bool {
	return p.Input%perMillion == 0 && p.CachedInput%perMillion == 0 && p.CacheWrite%perMillion == 0
}
