package reconcile

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tokenfare/tokenfare/cost"
)

const (
	nanoDigits   = 9
	mostDigits   = 400    // of a number as it is written; OpenAI writes dollars with forty
	mostExponent = 100000 // OpenAI writes zero as 0E-6176
)

// decimal is a number as it is written, taken apart: no leading zeros before the point but one, no trailing ones behind.
type decimal struct {
	negative        bool
	whole, fraction string
}

// parseDecimal reads a decimal number with or without an exponent, exactly. A dollar sign in front is passed over.
func parseDecimal(text string) (decimal, error) {
	wrong := func(why string) (decimal, error) { return decimal{}, fmt.Errorf("%.40q %s", text, why) }
	if len(text) > mostDigits {
		return wrong(fmt.Sprintf("is longer than any number: write at most %d digits", mostDigits))
	}
	rest, negative := strings.CutPrefix(text, "-")
	rest = strings.TrimPrefix(rest, "$")
	mantissa, exponent := rest, 0
	if at := strings.IndexAny(rest, "eE"); at >= 0 {
		e, err := strconv.Atoi(rest[at+1:])
		if err != nil || e > mostExponent || e < -mostExponent {
			return wrong("is not a number: its exponent cannot be read")
		}
		mantissa, exponent = rest[:at], e
	}
	whole, fraction, dot := strings.Cut(mantissa, ".")
	if !digits(whole) || dot && !digits(fraction) {
		return wrong("is not a number: write it like 1234 or 0.25, without blanks or separators of thousands")
	}
	if strings.Trim(whole+fraction, "0") == "" {
		return decimal{whole: "0"}, nil
	}
	if exponent > mostDigits || exponent < -mostDigits {
		return wrong("is not an amount: its exponent is out of all bounds")
	}
	for ; exponent > 0; exponent-- { // the point moves to the right
		if fraction == "" {
			fraction = "0"
		}
		whole, fraction = whole+fraction[:1], fraction[1:]
	}
	for ; exponent < 0; exponent++ { // the point moves to the left
		if whole == "" {
			whole = "0"
		}
		whole, fraction = whole[:len(whole)-1], whole[len(whole)-1:]+fraction
	}
	d := decimal{negative: negative, whole: strings.TrimLeft(whole, "0"), fraction: strings.TrimRight(fraction, "0")}
	if d.whole == "" {
		d.whole = "0"
	}
	return d, nil
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// parseCount reads a number of requests or tokens. Spreadsheets and some exports write whole numbers as 59200.0: that is
// one; 0.5 is not.
func parseCount(text string) (int64, error) {
	d, err := parseDecimal(text)
	switch {
	case err != nil:
		return 0, err
	case d.fraction != "":
		return 0, fmt.Errorf("%.40q is not a whole number", text)
	case d.negative:
		return 0, fmt.Errorf("%.40q is less than nothing", text)
	}
	n, err := strconv.ParseInt(d.whole, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q is too large to be a count", text)
	}
	return n, nil
}

// parseDollars reads an amount of dollars, to the nearest nano-dollar: some exports write more digits. Credits are
// negative.
func parseDollars(text string) (cost.NanoUSD, error) {
	d, err := parseDecimal(text)
	if err != nil {
		return 0, err
	}
	kept, up := d.fraction, false
	if len(kept) > nanoDigits {
		up = kept[nanoDigits] >= '5'
		kept = kept[:nanoDigits]
	}
	written := d.whole
	if kept != "" {
		written += "." + kept
	}
	n, err := cost.ParseUSD(written)
	if err != nil {
		return 0, err
	}
	if up {
		n = plus(n, 1)
	}
	if d.negative {
		n = -n
	}
	return n, nil
}

// instants are the forms in which exports write times. Those without a zone are in UTC: OpenAI's dashboard leaves it out of
// every other row.
var instants = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05Z07:00", time.DateOnly}

// parseInstant reads a time: seconds since 1970, or a date with or without a time of day.
func parseInstant(text string) (time.Time, error) {
	if whole, _, _ := strings.Cut(text, "."); digits(whole) {
		n, err := parseCount(text)
		if last := int64(253402300799); err != nil || n > last { // the end of the year 9999
			return time.Time{}, fmt.Errorf("%.40q is not a time in seconds since 1970", text)
		}
		return time.Unix(n, 0).UTC(), nil
	}
	for _, form := range instants {
		if len(text) == len(time.DateOnly) != (form == time.DateOnly) {
			continue
		}
		if t, err := time.Parse(form, text); err == nil && t.Unix() >= 0 && t.UTC().Year() <= 9999 {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%.40q is not a day: write it like 2026-08-31, or as seconds since 1970", text)
}
