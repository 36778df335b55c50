package sqlstore

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Sums that do not fit in 64 bits stay at the largest number that does: a ledger whose figures are absurd, for a price was
// mistyped, must go on all the same.

// added is the assignment that adds columns to those of a row that is there. What is subtracted from a bound cannot leave 64
// bits itself.
func added(table, columns string) string {
	const most, least = "9223372036854775807", "-9223372036854775807"
	var out []string
	for c := range strings.SplitSeq(columns, ", ") {
		is, more := table+"."+c, "excluded."+c
		out = append(out, c+" = CASE WHEN "+more+" >= 0"+
			" THEN CASE WHEN "+is+" > "+most+" - "+more+" THEN "+most+" ELSE "+is+" + "+more+" END"+
			" ELSE CASE WHEN "+is+" < "+least+" - "+more+" THEN "+least+" ELSE "+is+" + "+more+" END END")
	}
	return strings.Join(out, ", ")
}

// sumOf is the sum of a column: as a whole, or the sums of its upper and of its lower half, which never leave 64 bits.
func sumOf(column string, halves bool) string {
	if !halves {
		return "SUM(" + column + ")"
	}
	return "SUM(" + column + " >> 32), SUM(" + column + " & 4294967295)"
}

// sums scans what sumOf selects.
type sums struct {
	into   []*int64
	halves bool
	read   []total
}

func scanSums(into []*int64, halves bool) *sums {
	n := len(into)
	if halves {
		n *= 2
	}
	return &sums{into, halves, make([]total, n)}
}

func (s *sums) columns() []any {
	list := make([]any, len(s.read))
	for i := range s.read {
		list[i] = &s.read[i]
	}
	return list
}

// add puts the sums together.
func (s *sums) add() {
	for i, n := range s.into {
		if s.halves {
			*n = whole(int64(s.read[2*i]), int64(s.read[2*i+1]))
		} else {
			*n = int64(s.read[i])
		}
	}
}

// whole puts the sums of halves together.
func whole(upper, lower int64) int64 {
	upper += lower >> 32
	switch {
	case upper > math.MaxInt32:
		return math.MaxInt64
	case upper < math.MinInt32:
		return math.MinInt64
	}
	return upper<<32 + lower&math.MaxUint32
}

func saturatingAdd(a, b int64) int64 {
	if sum := a + b; (sum > a) == (b > 0) {
		return sum
	}
	if a > 0 {
		return math.MaxInt64
	}
	return math.MinInt64
}

// total reads a sum, which Postgres has in a type of its own that is a text to us. NULL is 0.
type total int64

// Scan reads a column.
func (n *total) Scan(v any) error {
	var text string
	switch v := v.(type) {
	case nil:
		*n = 0
		return nil
	case int64:
		*n = total(v)
		return nil
	case []byte:
		text = string(v)
	case string:
		text = v
	default:
		return errors.New("BUG: a sum is no number")
	}
	sum, err := strconv.ParseInt(text, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // out of range, sum is the bound
		return err
	}
	*n = total(sum)
	return nil
}
