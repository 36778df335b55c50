package limiter_test

import (
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

func TestRevision(t *testing.T) {
	total := func(limit, generation int64) limiter.Revision {
		return limiter.Revision{Rule: limiter.Total{Limit: limit}, Generation: generation}
	}
	story(t, "the highest generation wins, in whatever order they come", func(d *desk) {
		b := d.Budget("b", total(10, 5))
		d.passes(b, 4)
		for _, c := range []struct {
			rule              limiter.Rule
			limit, generation int64
		}{
			{total(99, 4), 10, 5},
			{total(99, 5), 10, 5},
			{total(20, 7), 20, 7},
			{total(30, 6), 20, 7},
			{limiter.Total{Limit: 20}, 20, 7},
			{limiter.Total{Limit: 40}, 40, 8},
			{total(40, 9), 40, 9},
			{total(50, 9), 40, 9},
		} {
			if d.Budget("b", c.rule) != b {
				t.Fatal("another handle")
			}
			if s := d.state(b); s.Limit != c.limit || s.Used != 4 || b.Generation() != c.generation {
				t.Fatalf("after %+v: limit %d, used %d, generation %d", c.rule, s.Limit, s.Used, b.Generation())
			}
		}
	})
	story(t, "without generations the last one wins", func(d *desk) {
		b := d.Budget("b", bucket(10, 1, time.Second))
		d.passes(b, 10)
		d.Budget("b", bucket(5, 1, time.Second))
		d.waits(b, 1, 6*time.Second)
		if b.Generation() != 2 || b.Rule() != bucket(5, 1, time.Second) {
			t.Fatalf("generation %d, %+v", b.Generation(), b.Rule())
		}
	})
	for name, rule := range map[string]limiter.Revision{
		"no rule":          {Generation: 1},
		"no generation":    {Rule: limiter.Total{Limit: 1}},
		"in a revision":    {Rule: total(1, 1), Generation: 1},
		"of a bad rule":    {Rule: limiter.Total{}, Generation: 1},
		"of a bad pointer": {Rule: &limiter.Total{Limit: 1}, Generation: 1},
	} {
		t.Run(name, func(t *testing.T) {
			if err := rule.Validate(); err == nil {
				t.Error("valid")
			}
			defer func() {
				if recover() == nil {
					t.Error("accepted")
				}
			}()
			limiter.NewMemory().Budget("b", rule)
		})
	}
}
