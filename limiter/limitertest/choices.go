package limitertest

import "pgregory.net/rapid"

// chooser makes the choices a history consists of.
type chooser interface {
	// between returns a number from lo to hi, both possible.
	between(label string, lo, hi int64) int64
}

// drawn are choices made, and made again smaller, by rapid.
type drawn struct{ t *rapid.T }

func (d drawn) between(label string, lo, hi int64) int64 {
	return rapid.Int64Range(lo, hi).Draw(d.t, label)
}

// decoded are choices read from bytes, one byte for each and as many more as
// its range needs. After the last byte all choices are the lowest.
type decoded struct{ rest []byte }

func (d *decoded) between(_ string, lo, hi int64) int64 {
	n, span := uint64(0), uint64(hi-lo)
	for s := span; ; s >>= 8 {
		if len(d.rest) > 0 {
			n, d.rest = n<<8|uint64(d.rest[0]), d.rest[1:]
		}
		if s < 1<<8 {
			break
		}
	}
	if span+1 == 0 {
		return int64(n)
	}
	return lo + int64(n%(span+1))
}

func (d *decoded) more() bool { return len(d.rest) > 0 }
