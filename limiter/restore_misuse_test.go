package limiter_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// inUse wants a budget that cannot be restored any more, and not be changed by
// the attempt.
func (d *desk) inUse(b *limiter.Budget) {
	d.Helper()
	before := d.state(b)
	err := d.Restore(b, []limiter.Spend{ago(0, 1)})
	if !errors.Is(err, limiter.ErrMisuse) || !strings.Contains(err.Error(), b.Name()) {
		d.Fatalf("restored while in use: %v", err)
	}
	if s := d.state(b); s != before {
		d.Fatalf("%+v became %+v", before, s)
	}
}

func TestRestoreOnlyWhatIsNotInUse(t *testing.T) {
	empty := bucket(10, 1, time.Second)
	empty.StartEmpty = true
	rules := map[string]limiter.Rule{
		"bucket": bucket(10, 1, time.Second), "empty": empty, "window": window(10, time.Second, 0),
		"hour": limiter.CalendarQuota{Limit: 10, Period: limiter.Hour}, "total": limiter.Total{Limit: 10},
	}
	story(t, "not what was charged, whichever way", func(d *desk) {
		for name, rule := range rules {
			for way, charge := range map[string]func(*limiter.Budget){
				"passes": func(b *limiter.Budget) { d.passes(b, 1) },
				"counts": func(b *limiter.Budget) { d.inc(b, 1) },
				"fast": func(b *limiter.Budget) {
					if ok, err := b.TryAcquire(d.Context(), 1); !ok || err != nil {
						d.Fatal(ok, err)
					}
				},
				"settled":  func(b *limiter.Budget) { d.settle(d.reserve(b, 1), 1) },
				"restored": func(b *limiter.Budget) { d.restore(b, ago(0, 1)) },
			} {
				b := d.Budget(name+" "+way, rule)
				time.Sleep(3 * time.Second)
				charge(b)
				d.inUse(b)
			}
		}
	})
	story(t, "not what is reserved, be it nothing", func(d *desk) {
		for name, rule := range rules {
			b := d.Budget(name, rule)
			r := d.reserve(b, 0)
			d.inUse(b)
			d.cancel(r)
			d.restore(b, ago(0, 1))
		}
	})
	story(t, "not what a window counted before it was a bucket that starts empty", func(d *desk) {
		b := d.Budget("b", empty)
		d.Budget("b", window(10, time.Second, 0))
		d.inUse(b) // it is charged with what was missing
		d.Budget("b", empty)
		d.inUse(b)
	})
	story(t, "not a name that shares what newcomers have spent", func(d *desk) {
		f := d.family(empty, 1)
		f.Set("ann", empty)
		time.Sleep(5 * time.Second)
		d.passes(f.Budget("bob"), 3)
		f.Unset("ann")
		d.inUse(f.Set("bob", empty))
	})
	story(t, "but what has only been looked at", func(d *desk) {
		for name, rule := range rules {
			b := d.Budget(name, rule)
			time.Sleep(3 * time.Second)
			d.state(b)
			d.take(b, 100)
			d.inc(b, 0)
			d.restore(b, ago(0, 3))
			if used := d.state(b).Used; used != 3 && name != "empty" || used != 13 && name == "empty" {
				d.Fatalf("%s: %d used", name, used)
			}
		}
	})
	story(t, "and what is as good as new again", func(d *desk) {
		for name, rule := range rules {
			if name == "total" {
				continue // it never is
			}
			b := d.Budget(name, rule)
			d.inc(b, 3)
			time.Sleep(time.Hour)
			d.restore(b, ago(0, 0), ago(0, 3))
			if used := d.state(b).Used; used != 3 && name != "empty" || used != 13 && name == "empty" {
				d.Fatalf("%s: %d used", name, used)
			}
		}
	})
}

func TestRestoreMisuse(t *testing.T) {
	m, other := limiter.NewMemory(), limiter.NewMemory()
	rule := limiter.Total{Limit: 10}
	for name, b := range map[string]*limiter.Budget{
		"nil": nil, "zero": {}, "another memory's": other.Budget("b", rule), "another limiter's": limiter.NewBudget(other, "b", rule, nil),
	} {
		if err := m.Restore(b, nil); !errors.Is(err, limiter.ErrMisuse) {
			t.Errorf("restore, %s: %v", name, err)
		}
		if err := m.Correct(b, time.Now(), 1); !errors.Is(err, limiter.ErrMisuse) {
			t.Errorf("correct, %s: %v", name, err)
		}
	}
	b := m.Budget("b", rule)
	if err := m.Restore(b, []limiter.Spend{ago(0, 1), ago(0, -1)}); !errors.Is(err, limiter.ErrMisuse) || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("negative: %v", err)
	}
	if s := stateOf(t, m, b); s.Used != 0 {
		t.Errorf("misuse has left something behind: %+v", s)
	}
}
