package cost

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// NanoUSD is an amount of money in billionths of a US dollar. Integers keep sums exact; the largest amount is about
// 9.2 billion dollars, and arithmetic in this package saturates there.
type NanoUSD int64

const (
	usd        NanoUSD = 1_000_000_000
	usdDigits          = 9
	perMillion         = 1_000_000
	maxNanoUSD         = NanoUSD(math.MaxInt64)
)

// ParseUSD reads an amount of dollars, exactly: digits with an optional fraction of up to nine digits, and an optional
// dollar sign in front, such as "$10", "0.25" or "$1.000000001". Signs, blanks, separators and exponents are errors.
func ParseUSD(s string) (NanoUSD, error) {
	number := strings.TrimPrefix(s, "$")
	whole, fraction, dot := strings.Cut(number, ".")
	if !isDigits(whole) || dot && !isDigits(fraction) {
		return 0, fmt.Errorf(`amount of money %.40q is not a number of dollars: write it like "$10" or "0.25"`, s)
	}
	if len(fraction) > usdDigits {
		return 0, fmt.Errorf("amount of money %.40q is finer than a billionth of a dollar: use at most %d digits after the point", s, usdDigits)
	}
	digits := strings.TrimLeft(whole+fraction+strings.Repeat("0", usdDigits-len(fraction)), "0")
	var n uint64
	for _, d := range digits {
		if n > (math.MaxInt64-uint64(d-'0'))/10 {
			return 0, fmt.Errorf("amount of money %.40q is too large: the most is %v", s, maxNanoUSD)
		}
		n = n*10 + uint64(d-'0')
	}
	return NanoUSD(n), nil
}

// String prints the amount in dollars, exactly, with at least two digits after the point: "$12.50", "$0.000123".
func (n NanoUSD) String() string {
	sign, abs := "", uint64(n)
	if n < 0 {
		sign, abs = "-", -abs
	}
	fraction := fmt.Sprintf("%0*d", usdDigits, abs%uint64(usd))
	fraction = fraction[:2] + strings.TrimRight(fraction[2:], "0")
	return fmt.Sprintf("%s$%d.%s", sign, abs/uint64(usd), fraction)
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// times is what tokens cost at a price per million, rounded up, so that no part of a token is free.
func (n NanoUSD) times(tokens int64) NanoUSD {
	hi, lo := bits.Mul64(uint64(max(0, n)), uint64(max(0, tokens)))
	lo, carry := bits.Add64(lo, perMillion-1, 0)
	hi += carry
	if hi >= perMillion {
		return maxNanoUSD // the quotient would not fit 64 bits, let alone 63
	}
	quotient, _ := bits.Div64(hi, lo, perMillion)
	return NanoUSD(min(quotient, math.MaxInt64))
}

// saturatingAdd adds amounts that are not negative, and stays at the largest number rather than wrap.
func saturatingAdd[N ~int64](a, b N) N {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// saturatingMul multiplies amounts that are not negative, and stays at the largest number rather than wrap.
func saturatingMul(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}
