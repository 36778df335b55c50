package cost

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// parseDecimal reads the text of a JSON number, exactly: 1.375e-07 is 1375 / 10^10, whatever a float would make of it.
// Exponents beyond 60 either way are an error: no price needs them, and they would make numbers of any length.
func parseDecimal(text string) (*big.Rat, error) {
	const mostDigits, mostExponent = 60, 60
	mantissa, exponent := text, 0
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		e, err := strconv.Atoi(text[at+1:])
		if err != nil || e > mostExponent || e < -mostExponent {
			return nil, fmt.Errorf("%.40q has an exponent beyond %d", text, mostExponent)
		}
		mantissa, exponent = text[:at], e
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if len(digits) > mostDigits {
		return nil, fmt.Errorf("%.40q has more than %d digits", text, mostDigits)
	}
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return nil, fmt.Errorf("%.40q is not a number", text)
	}
	scale := exponent - len(fraction)
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil)
	if scale < 0 {
		return new(big.Rat).SetFrac(n, ten), nil
	}
	return new(big.Rat).SetInt(n.Mul(n, ten)), nil
}

// roundedUp is r times factor as an int64, rounded up, so that a price that is finer than we keep is not lost. It
// saturates.
func roundedUp(r *big.Rat, factor int64) int64 {
	product := new(big.Rat).Mul(r, ratOf(factor))
	quotient, remainder := new(big.Int).QuoRem(product.Num(), product.Denom(), new(big.Int))
	if remainder.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	switch {
	case quotient.IsInt64():
		return quotient.Int64()
	case quotient.Sign() < 0:
		return math.MinInt64
	default:
		return math.MaxInt64
	}
}

func ratOf(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

// parseUplift reads what a region multiplies prices by, "1.1", as ten-thousandths; an empty text is 0, not stated.
func parseUplift(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	r, err := parseDecimal(text)
	if err != nil {
		return 0, err
	}
	return roundedUp(r, tenThousandths), nil
}
