package sqlstore

import (
	"testing"
	"testing/synctest"
	"time"
)

// paced is a dialect of which only the pace is asked.
type paced struct {
	Dialect
	pace Pace
}

func (p paced) Pace() Pace { return p.pace }

// Whoever believes to live is a beat away from being taken for dead, at least, whichever of the two clocks stood still.
func TestLiving(t *testing.T) {
	pace := Pace{Beat: 3 * time.Second, Grace: 15 * time.Second}
	for name, c := range map[string]struct {
		pace  Pace
		since func() time.Time
		lives bool
	}{
		"a moment ago":                {pace, func() time.Time { return time.Now().Add(-11 * time.Second) }, true},
		"long ago":                    {pace, func() time.Time { return time.Now().Add(-12 * time.Second) }, false},
		"long ago, by the time alone": {pace, func() time.Time { return time.Now().Round(0).Add(-12 * time.Second) }, false},
		"the clock was set back":      {pace, func() time.Time { return time.Now().Round(0).Add(time.Hour) }, true},
		"it is the only one":          {Pace{}, func() time.Time { return time.Now().Add(-time.Hour) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(paced{pace: c.pace}, nil, nil)
				if !s.Living() {
					t.Error("it is dead before its life has begun")
				}
				s.life.signed(c.since())
				if s.Living() != c.lives {
					t.Errorf("it lives: %t, want %t", s.Living(), c.lives)
				}
			})
		})
	}
}
