package sqlstore

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWatch(t *testing.T) {
	const grace = 15 * time.Second
	alive := writer{slot: 1, held: true, batch: 1 << batchBits, seen: 7}
	for name, c := range map[string]struct {
		looks int
		every time.Duration
		as    func(look int) writer
		dead  bool
	}{
		"silent for long":             {looks: 7, every: 3 * time.Second, as: func(int) writer { return alive }, dead: true},
		"silent, but not for long":    {looks: 5, every: 3 * time.Second, as: func(int) writer { return alive }},
		"beats":                       {looks: 30, every: 3 * time.Second, as: func(n int) writer { w := alive; w.seen += int64(n / 4); return w }},
		"beats with a clock set back": {looks: 30, every: 3 * time.Second, as: func(n int) writer { w := alive; w.seen -= int64(n % 2); return w }},
		"commits in one microsecond":  {looks: 30, every: 3 * time.Second, as: func(n int) writer { w := alive; w.batch += int64(n); return w }},
		"nobody could look meanwhile": {looks: 9, every: 10 * time.Second, as: func(int) writer { return alive }},
		"has said that it ends":       {looks: 1, every: 0, as: func(int) writer { w := alive; w.seen = 0; return w }, dead: true},
		"adopted already":             {looks: 30, every: 3 * time.Second, as: func(int) writer { w := alive; w.held = false; return w }},
		"adopted, and said it ends":   {looks: 1, every: 0, as: func(int) writer { w := alive; w.held, w.seen = false, 0; return w }},
		"taken by another in the end": {looks: 7, every: 3 * time.Second, as: func(n int) writer { w := alive; w.batch += int64(n/6) << batchBits; return w }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWatch(grace)
				var dead []writer
				for n := range c.looks {
					dead = w.dead([]writer{c.as(n)})
					time.Sleep(c.every)
				}
				if (len(dead) > 0) != c.dead {
					t.Errorf("the dead are %+v at the last look", dead)
				}
			})
		})
	}
}
