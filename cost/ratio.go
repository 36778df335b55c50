package cost

import (
	"fmt"
	"strconv"
	"strings"
)

// Ratio is how many tokens a model makes of a text for each that its Encoding counts, in thousandths: 1200 is 1.2. It is
// for models whose own vocabulary is not known. The zero value is 1.
type Ratio int64

const (
	ratioDigits = 3
	ratioOne    = 1_000
	leastRatio  = ratioOne / 10
	mostRatio   = ratioOne * 10
)

// ParseRatio reads a decimal from 0.1 to 10 with at most three digits behind the point: 1.2.
func ParseRatio(text string) (Ratio, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseUint(whole+fraction+strings.Repeat("0", max(0, ratioDigits-len(fraction))), 10, 32)
	if err != nil || whole == "" || strings.HasSuffix(text, ".") || len(fraction) > ratioDigits || n < leastRatio || n > mostRatio {
		return 0, fmt.Errorf("%.40q is not a decimal from 0.1 to 10 with at most three digits behind the point", text)
	}
	return Ratio(n), nil
}

// Of is how many tokens a model makes of a text that its Encoding counts as n, rounded up.
func (r Ratio) Of(n int64) int64 {
	if r <= 0 || r == ratioOne || n <= 0 {
		return n
	}
	if n > maxTokens/mostRatio {
		return maxTokens
	}
	return ceilDiv(n*int64(min(r, mostRatio)), ratioOne)
}

// within is the largest n that Of makes no more than most of; no less than zero.
func (r Ratio) within(most int64) int64 {
	most = max(0, most)
	if r <= 0 || r == ratioOne || most >= maxTokens {
		return most
	}
	return saturatingMul(most, ratioOne) / int64(min(r, mostRatio))
}

// String prints it as a decimal: 1.2.
func (r Ratio) String() string {
	if r <= 0 {
		return "1"
	}
	text := fmt.Sprintf("%d.%0*d", r/ratioOne, ratioDigits, r%ratioOne)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}
