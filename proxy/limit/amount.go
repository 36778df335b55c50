package limit

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
)

const (
	maxCount   = 1_000_000_000_000_000 // most tokens or requests a limit may name
	maxDollars = 1_000_000_000         // most dollars
	nanos      = 1_000_000_000         // nano-dollars in one
	amountHelp = "amounts look like 200k, 1.5m, 1_000 or, for money, $50 and $0.25"
)

// FormatAmount prints n of a unit as a sentence would say it: "200k tokens", "60 requests", "$10". n is in
// nano-dollars for Dollars; negative amounts (debts) keep their sign.
func FormatAmount(unit Unit, n int64) string {
	if unit == Dollars {
		return formatNumber(unit, n)
	}
	name := unit.String()
	if n == 1 {
		name = strings.TrimSuffix(name, "s")
	}
	return formatNumber(unit, n) + " " + name
}

// formatNumber prints the bare amount, exactly, shortened only where nothing is lost.
func formatNumber(unit Unit, n int64) string {
	if unit == Dollars {
		return strings.TrimSuffix(cost.NanoUSD(n).String(), ".00")
	}
	switch {
	case n == 0:
		return "0"
	case n%1_000_000 == 0:
		return strconv.FormatInt(n/1_000_000, 10) + "m"
	case n%100_000 == 0 && (n > 1_000_000 || n < -1_000_000):
		return strconv.FormatFloat(float64(n/100_000)/10, 'f', 1, 64) + "m"
	case n%1_000 == 0:
		return strconv.FormatInt(n/1_000, 10) + "k"
	}
	return strconv.FormatInt(n, 10)
}

// ParseCount reads a whole number as a limit would say it: 8k, 1.5m, 128_000. The error is always an *Error.
func ParseCount(s string) (int64, error) {
	w := word{text: s}
	n, dollars, err := amount(w)
	if err == nil && dollars {
		err = fail(w, "write a plain number such as 8k or 128_000", "%s is money, not a number of tokens", quote(s))
	}
	if err != nil {
		return 0, err
	}
	return n, nil
}

// amount reads [$]DIGITS[.DIGITS][k|m|b]: a count, or nano-dollars when it begins with a dollar sign.
func amount(w word) (n int64, dollars bool, err *Error) {
	s := w.text
	switch {
	case strings.HasPrefix(s, "-") || strings.HasPrefix(s, "$-") || strings.HasPrefix(s, "−"):
		return 0, false, fail(w, "write a positive amount; "+amountHelp, "%s is negative", quote(s))
	case strings.HasPrefix(s, "+"):
		return 0, false, fail(w, "leave the sign out; what raises a limit for a while stands under `extra` of its key", "%s is not an amount", quote(s))
	case strings.HasPrefix(s, "$"):
		dollars, s = true, s[1:]
	}
	number, mult := suffix(s)
	whole, frac, point := strings.Cut(number, ".")
	if strings.Contains(number, ",") {
		return 0, false, fail(w, "write "+quote(strings.ReplaceAll(w.text, ",", "_"))+", or without the comma", "%s holds a comma", quote(w.text))
	}
	if !digits(whole) || point && !digits(frac) {
		return 0, false, fail(w, examples, "%s is not an amount", quote(w.text))
	}
	scale, most := mult, uint64(maxCount)
	if dollars {
		scale, most = mult*nanos, maxDollars*nanos
	}
	v, state := decimal(strings.ReplaceAll(whole, "_", ""), strings.ReplaceAll(frac, "_", ""), scale, most)
	switch {
	case state == tooFine && dollars:
		return 0, false, fail(w, "use at most nine decimals", "%s is finer than a billionth of a dollar", quote(w.text))
	case state == tooFine:
		return 0, false, fail(w, "write a whole number", "%s is not a whole number", quote(w.text))
	case state == tooLarge && dollars:
		return 0, false, fail(w, "the largest is $1_000_000_000", "%s is too large", quote(w.text))
	case state == tooLarge:
		return 0, false, fail(w, "the largest is 1_000_000b", "%s is too large", quote(w.text))
	case v == 0:
		return 0, false, fail(w, "write a positive amount; to keep a caller out altogether, set `disabled: true` on the key", "a limit of nothing admits nothing")
	}
	return int64(v), dollars, nil
}

// suffix takes k, m or b off the end.
func suffix(s string) (string, uint64) {
	if s != "" {
		switch s[len(s)-1] {
		case 'k', 'K':
			return s[:len(s)-1], 1_000
		case 'm', 'M':
			return s[:len(s)-1], 1_000_000
		case 'b', 'B':
			return s[:len(s)-1], 1_000_000_000
		}
	}
	return s, 1
}

// digits reports whether s is decimal digits, with single underscores between them allowed.
func digits(s string) bool {
	for i := range len(s) {
		between := i > 0 && i < len(s)-1 && s[i-1] != '_'
		if !digit(s[i]) && !(s[i] == '_' && between) {
			return false
		}
	}
	return s != ""
}

type exactness uint8

const (
	exact exactness = iota
	tooFine
	tooLarge
)

// decimal computes whole.frac × scale exactly, in integers. scale is a power of ten.
func decimal(whole, frac string, scale, most uint64) (uint64, exactness) {
	var v uint64
	for _, c := range []byte(whole) {
		hi, lo := bits.Mul64(v, 10)
		if v = lo + uint64(c-'0'); hi != 0 || v < lo || v > most {
			return 0, tooLarge
		}
	}
	hi, v := bits.Mul64(v, scale)
	if hi != 0 || v > most {
		return 0, tooLarge
	}
	for _, c := range []byte(strings.TrimRight(frac, "0")) {
		if scale /= 10; scale == 0 {
			return 0, tooFine
		}
		v += uint64(c-'0') * scale
	}
	if v > most {
		return 0, tooLarge
	}
	return v, exact
}
