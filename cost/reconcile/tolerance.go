package reconcile

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/tokenfare/tokenfare/cost"
)

// Tolerance is how far two sides may be apart and still agree: by a part of the larger one, or by a fixed amount, whichever
// is more. The zero value is no tolerance at all.
type Tolerance struct {
	Part     int64 // in ten-thousandths of a percent: 5,000 is 0.5 %
	Tokens   int64
	Requests int64
	Cost     cost.NanoUSD
}

const (
	partDigits = 4
	percent    = 10_000 // of Part
	hundred    = 100 * percent
)

// DefaultTolerance is 0.5 %, 1,000 tokens, a request or a cent a day and model.
func DefaultTolerance() Tolerance {
	return Tolerance{Part: percent / 2, Tokens: 1_000, Requests: 1, Cost: 10_000_000}
}

// ParseTolerance reads amounts with commas between them, in place of the default ones: "0.5%", "1%, 5000 tokens",
// "0%, 2 requests, $0.10". "exact" is no tolerance at all.
func ParseTolerance(s string) (Tolerance, error) {
	t := DefaultTolerance()
	if strings.TrimSpace(s) == "exact" {
		return Tolerance{}, nil
	}
	for piece := range strings.SplitSeq(s, ",") {
		if err := t.set(strings.TrimSpace(piece)); err != nil {
			return Tolerance{}, err
		}
	}
	return t, nil
}

func (t *Tolerance) set(piece string) (err error) {
	amount, unit, _ := strings.Cut(piece, " ")
	if number, ok := strings.CutSuffix(piece, "%"); ok {
		amount, unit = strings.TrimSpace(number), "%"
	}
	switch unit {
	case "%":
		var d decimal
		d, err = parseDecimal(amount)
		if err == nil && len(d.fraction) <= partDigits {
			t.Part, err = parseCount(d.whole + d.fraction + strings.Repeat("0", partDigits-len(d.fraction)))
		}
		if err == nil && (len(d.fraction) > partDigits || d.negative || t.Part > hundred) {
			err = fmt.Errorf("%.40q is not a part: write at most four digits behind the point, and at most 100%%", piece)
		}
	case "token", "tokens":
		t.Tokens, err = parseCount(amount)
	case "request", "requests":
		t.Requests, err = parseCount(amount)
	case "":
		if !strings.HasPrefix(amount, "$") {
			return fmt.Errorf("%.40q has no unit: write 0.5%%, 1000 tokens, 2 requests or $0.10", piece)
		}
		t.Cost, err = parseDollars(amount)
	default:
		return fmt.Errorf("%.40q has no unit that is known: write 0.5%%, 1000 tokens, 2 requests or $0.10", piece)
	}
	return err
}

// String prints the tolerance as ParseTolerance reads it.
func (t Tolerance) String() string {
	if t == (Tolerance{}) {
		return "exact"
	}
	part := fmt.Sprintf("%d.%0*d", t.Part/percent, partDigits, t.Part%percent)
	part = strings.TrimRight(strings.TrimRight(part, "0"), ".")
	return fmt.Sprintf("%s%%, %d tokens, %s, %s", part, t.Tokens, counted(t.Requests, "request"), t.Cost)
}

// fixed is the amount by which a figure may always be apart.
func (t Tolerance) fixed(f Figures) int64 {
	switch f {
	case Requests:
		return t.Requests
	case Cost:
		return int64(t.Cost)
	default:
		return t.Tokens
	}
}

// agree reports whether two amounts of a figure are within the tolerance.
func (t Tolerance) agree(f Figures, a, b int64) bool {
	apart := distanceOf(a, b)
	return apart <= uint64(t.fixed(f)) || within(apart, larger(a, b), t.Part)
}

// within reports whether an amount is no more than a part of another, in the unit of Tolerance.Part.
func within(amount, of uint64, part int64) bool {
	left, leftLow := bits.Mul64(amount, hundred)
	right, rightLow := bits.Mul64(of, uint64(part))
	return left < right || left == right && leftLow <= rightLow
}

// distanceOf is how far two numbers are apart.
func distanceOf(a, b int64) uint64 {
	if a < b {
		a, b = b, a
	}
	return uint64(a) - uint64(b)
}

// larger is the larger of two numbers, whatever their signs.
func larger(a, b int64) uint64 {
	return max(distanceOf(a, 0), distanceOf(b, 0))
}
