package cost

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
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

// ParseRate reads what an item costs as people write it, "$2.50": dollars for a million tokens, or for one where the
// item's name says so (per_image). What is read is nano-dollars per million units, as Rates have it.
func ParseRate(i Item, s string) (NanoUSD, error) {
	n, err := ParseUSD(s)
	if err != nil || !i.PerUnit() {
		return n, err
	}
	if n > maxNanoUSD/perMillion {
		return 0, fmt.Errorf("amount of money %.40q is too large: the most is %v", s, maxNanoUSD/perMillion)
	}
	return n * perMillion, nil
}

// String prints the amount in dollars, exactly, with at least two digits after the point: "$12.50", "$0.000123".
func (n NanoUSD) String() string {
	var room [len("-$9223372036.854775808")]byte // every answer and every line of the log has one: it is worth doing without fmt
	text, abs := room[:0], uint64(n)
	if n < 0 {
		text, abs = append(text, '-'), -abs
	}
	text = strconv.AppendUint(append(text, '$'), abs/uint64(usd), 10)
	point := len(text)
	text = strconv.AppendUint(text, uint64(usd)+abs%uint64(usd), 10) // the leading 1 keeps the zeros behind it
	text[point] = '.'
	for len(text) > point+1+2 && text[len(text)-1] == '0' {
		text = text[:len(text)-1]
	}
	return string(text)
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// scaled is n times quantity times factor, divided by per and rounded up, so that no part of a unit is free. n is read as
// zero where it is negative, and so is quantity. factor is at most 2^32; per is more than zero. It is exact as long as the
// result fits, and saturates beyond.
func (n NanoUSD) scaled(quantity int64, factor, per uint64) NanoUSD {
	hi, lo := bits.Mul64(uint64(max(0, n)), uint64(max(0, quantity)))
	if factor != 1 {
		over, high := bits.Mul64(hi, factor)
		carried, low := bits.Mul64(lo, factor)
		high, carry := bits.Add64(high, carried, 0)
		if over != 0 || carry != 0 {
			return maxNanoUSD // 2^128 or more, divided by less than 2^64
		}
		hi, lo = high, low
	}
	lo, carry := bits.Add64(lo, per-1, 0)
	hi, carry = bits.Add64(hi, 0, carry)
	if carry != 0 || hi >= per {
		return maxNanoUSD // the quotient would not fit 64 bits, let alone 63
	}
	quotient, _ := bits.Div64(hi, lo, per)
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
