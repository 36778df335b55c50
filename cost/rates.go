package cost

// Rates are what each item costs, in nano-dollars per million units (see Item). Every rate means what it says: zero is
// free. A Card fills in what a price list leaves out.
type Rates [Items]NanoUSD

// Schedule is what calls of one service tier cost, by the size of their prompt.
type Schedule struct {
	Rates             // for prompts up to the first threshold
	Long  []LongRates // by threshold, ascending
}

// LongRates are for prompts of more than Above tokens: the whole request costs so much, not only what is beyond.
type LongRates struct {
	Above int64 // input tokens
	Rates Rates
}

// reach says which thresholds count: those that an input exceeds, or also those that a smaller input would.
type reach bool

const (
	exactly reach = false
	upTo    reach = true
)

// raise makes r at least what a call with that much input costs, item by item.
func (s *Schedule) raise(r *Rates, input int64, how reach) {
	rates := &s.Rates
	for i := range s.Long {
		if input > s.Long[i].Above {
			if how == upTo {
				r.raise(rates)
			}
			rates = &s.Long[i].Rates
		}
	}
	r.raise(rates)
}

// raise makes every rate at least the other.
func (r *Rates) raise(other *Rates) {
	for i := range r {
		r[i] = max(r[i], other[i])
	}
}

// times multiplies every rate.
func (r Rates) times(n NanoUSD) Rates {
	for i := range r {
		if r[i] > maxNanoUSD/n {
			r[i] = maxNanoUSD
			continue
		}
		r[i] *= n
	}
	return r
}

// input are the rates of the kinds of input token, output those of output.
func (r *Rates) input() []NanoUSD  { return r[Input : CachedImageInput+1] }
func (r *Rates) output() []NanoUSD { return r[Output : ImageOutput+1] }
