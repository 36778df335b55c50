package reconcile

import (
	"math/big"
	"strconv"
)

// grouped prints a number with commas between its thousands.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return sign + text
}

// ratio prints a / b with so many digits behind the point; empty where b is zero.
func ratio(a, b int64, digits int) string {
	if b == 0 {
		return ""
	}
	return new(big.Rat).SetFrac(big.NewInt(a), big.NewInt(b)).FloatString(digits)
}

// counted prints a number of things.
func counted(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return grouped(n) + " " + what + "s"
}

// dollars prints nano-dollars to a hundredth of a cent: more digits would only make tables wide.
func dollars(nano int64) string {
	text := new(big.Rat).SetFrac64(nano, 1_000_000_000).FloatString(4)
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	whole, fraction := text[:len(text)-5], text[len(text)-4:]
	n, _ := strconv.ParseInt(whole, 10, 64) // at most ten digits
	return sign + "$" + grouped(n) + "." + fraction
}

// percentage prints a part of a whole with its sign: +9.17 %.
func percentage(part, of int64) string {
	r := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(part), big.NewInt(100)), big.NewInt(of))
	sign := ""
	if r.Sign() > 0 {
		sign = "+"
	}
	return sign + r.FloatString(2) + " %"
}
