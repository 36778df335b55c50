package gate

import (
	"fmt"
	"math/big"
	"strconv"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// Config is a bucket as configuration files have it.
type Config struct {
	Capacity       int64         // the largest batch, at least 1
	RefillRate     float64       // tokens that come back per RefillInterval, above 0; need not be whole
	RefillInterval time.Duration // at least 1 ns; it is a unit, not a tick: tokens come back all the time
}

// Rule returns the bucket in whole numbers. The rate is taken at its word: 0.1
// is one in ten, not the binary fraction next to it, which is a little more.
func (c Config) Rule() (limiter.TokenBucket, error) {
	rule := limiter.TokenBucket{Size: c.Capacity}
	if c.RefillInterval < 1 {
		return rule, fmt.Errorf("refill interval is %v, must be at least 1ns", c.RefillInterval)
	}
	written := strconv.FormatFloat(c.RefillRate, 'g', -1, 64) // the shortest that is read as the same number: what was written
	rate, ok := new(big.Rat).SetString(written)
	if !ok || rate.Sign() <= 0 {
		return rule, fmt.Errorf("refill rate is %s, must be a number above 0", written)
	}
	rate.Quo(rate, new(big.Rat).SetInt64(int64(c.RefillInterval))) // per nanosecond, in lowest terms
	if !rate.Num().IsInt64() || !rate.Denom().IsInt64() {
		return rule, fmt.Errorf("refill rate of %s per %v has too many digits to be kept exactly; give a whole number per longer interval, 1 per 3s for a third per second", written, c.RefillInterval)
	}
	rule.Refill, rule.Every = rate.Num().Int64(), time.Duration(rate.Denom().Int64())
	return rule, rule.Validate()
}
