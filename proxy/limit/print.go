package limit

// String is the canonical sentence: Parse(l.String()) has the same meaning as l.
func (l Limit) String() string { return l.Text }

// Plain explains the limit in words, as `tokenfare check` prints it.
func (l Limit) Plain() string { return l.Text }

// ID names the counter: unit, scope, kind and period, never the amount.
func (l Limit) ID() string { return l.Text }

// String is the unit as it is written in a sentence.
func (u Unit) String() string { return "" }

// FormatAmount prints n of a unit.
func FormatAmount(unit Unit, n int64) string { return "" }
