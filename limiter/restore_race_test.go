package limiter_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// TestRestoreAtOnce restores budgets, twice at the same time, while others look
// at them and sweep: one of the two succeeds, and nobody sees a part of it.
func TestRestoreAtOnce(t *testing.T) {
	const rounds, spends, n = 20, 2000, 3
	ctx, m := t.Context(), limiter.NewMemory()
	empty := bucket(1<<20, 1, 1<<42)
	empty.StartEmpty = true
	rules := []limiter.Rule{
		bucket(1<<20, 1, 1<<42), empty, window(1<<40, 24*time.Hour, time.Minute),
		limiter.CalendarQuota{Limit: 1 << 40, Period: limiter.Quarter},
		limiter.Total{Limit: 1 << 40},
	}
	for i, rule := range rules {
		family := m.Family(limiter.FamilyOptions{Rule: rule})
		for round := range rounds {
			name := strconv.Itoa(round)
			start := family.Budget(name)
			nothing := stateOf(t, m, start).Used
			past := make([]limiter.Spend, spends)
			for i := range past {
				past[i] = ago(time.Duration(spends-i)*time.Microsecond, n)
			}
			var restored, done atomic.Int64
			var all sync.WaitGroup
			for range 2 {
				all.Go(func() {
					defer done.Add(1)
					switch err := m.Restore(family.Budget(name), past); {
					case err == nil:
						restored.Add(1)
					case !errors.Is(err, limiter.ErrMisuse):
						t.Error(err)
					}
				})
				all.Go(func() {
					for look := 0; done.Load() < 2; look++ {
						used := stateOf(t, m, family.Budget(name)).Used
						if used != nothing && used != nothing+spends*n {
							t.Errorf("rule %d: %d used", i, used)
						}
						if look%16 == 0 {
							family.Sweep()
						}
					}
				})
			}
			all.Wait()
			if s := stateOf(t, m, start); restored.Load() != 1 || s.Used != nothing+spends*n {
				t.Fatalf("rule %d, restored %d times: %+v", i, restored.Load(), s)
			}
			if ok, err := start.TryAcquire(ctx, 1); err != nil || ok == (nothing > 0) {
				t.Fatalf("rule %d: %v, %v", i, ok, err)
			}
		}
	}
}

// TestRestoreRacesCharges has others charge a budget on the fast way when it is
// restored: either they come first, and it is not, or all of it counts.
func TestRestoreRacesCharges(t *testing.T) {
	// It goes on until both have often come first, or that seems hopeless. The
	// charges begin the later, the more often they did.
	const often, hopeless, calls, past = 200, 5000, 20, 1000
	m := limiter.NewMemory()
	restored, refused, handicap := 0, 0, 0
	for round := 0; round < hopeless && min(restored, refused) < often; round++ {
		b := m.Budget(strconv.Itoa(round), bucket(1<<20, 1, 1<<42))
		var ready atomic.Int64
		later := handicap
		var all sync.WaitGroup
		together := func() {
			for ready.Add(1); ready.Load() < 2; {
				runtime.Gosched()
			}
		}
		all.Go(func() {
			together()
			for range later {
				ready.Load()
			}
			for range calls {
				if ok, err := b.TryAcquire(t.Context(), 1); !ok || err != nil {
					t.Error(ok, err)
				}
			}
		})
		together()
		want := int64(calls)
		if err := m.Restore(b, []limiter.Spend{ago(time.Second, past)}); err == nil {
			want += past
			restored++
			handicap = max(0, handicap-20)
		} else {
			refused++
			handicap += 20
		}
		all.Wait()
		if s := stateOf(t, m, b); s.Used != want {
			t.Fatalf("%+v, want %d used", s, want)
		}
	}
	t.Logf("the spends came first %d times, the charges %d times", restored, refused)
}

func stateOf(t *testing.T, m *limiter.Memory, b *limiter.Budget) limiter.State {
	charges := []limiter.Charge{{Budget: b}}
	if _, err := m.Peek(context.Background(), charges); err != nil {
		t.Error(err)
	}
	return charges[0].State
}

// BenchmarkRestore restores a budget from a million spends.
func BenchmarkRestore(b *testing.B) {
	const million = 1_000_000
	ordered, mixed := make([]limiter.Spend, million), make([]limiter.Spend, million)
	for i := range ordered {
		ordered[i] = ago(time.Duration(million-i)*time.Millisecond, 1000)
		mixed[i*7919%million] = ordered[i]
	}
	for name, rule := range map[string]limiter.Rule{
		"bucket": bucket(1<<40, 1000, time.Second), "window": window(1<<60, time.Hour, 0), "grains": window(1<<60, time.Hour, time.Second),
		"month": limiter.CalendarQuota{Limit: 1 << 60, Period: limiter.Month}, "total": limiter.Total{Limit: 1 << 60},
	} {
		for order, spends := range map[string][]limiter.Spend{"ordered": ordered, "mixed": mixed} {
			b.Run(name+"/"+order, func(b *testing.B) {
				for b.Loop() {
					m := limiter.NewMemory()
					if err := m.Restore(m.Budget("b", rule), spends); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
