package lockfree_test

import (
	"math/big"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/limiter/examples/lockfree"
)

// FuzzT16Refill holds a bucket against exact rationals: what it has, what it
// lets pass, and how long it says one has to wait.
func FuzzT16Refill(f *testing.F) {
	const most = 1<<63 - 1
	f.Add(int64(1000), int64(1000), int64(1e9), false, true, int64(1), int64(1000), int64(4_295_000_000_000), int64(1000), int64(1), int64(1))
	f.Add(int64(10), int64(3), int64(7), true, false, int64(8), int64(3), int64(1), int64(1), int64(2), int64(1))
	f.Add(int64(most-1), int64(most), int64(most), false, false, int64(1<<60), int64(most-1), int64(1), int64(1), int64(1<<59), int64(1<<59))
	f.Add(int64(3), int64(1), int64(30*24*time.Hour), true, false, int64(30*24*time.Hour), int64(1), int64(30*24*time.Hour-1), int64(1), int64(1), int64(1))
	f.Fuzz(func(t *testing.T, capacity, refill, every int64, startEmpty, peek bool, dt1, n1, dt2, n2, dt3, n3 int64) {
		c := lockfree.Config{Capacity: capacity, Refill: refill, Every: time.Duration(every), StartEmpty: startEmpty}
		if _, err := lockfree.New(c); err != nil {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, c)
			m := newModel(c)
			for _, step := range [][2]int64{{dt1, n1}, {dt2, n2}, {dt3, n3}} {
				dt, n := step[0]&(1<<60-1), step[1]&most
				time.Sleep(time.Duration(dt))
				m.refill(dt)
				if peek { // which takes the bucket off its fast lane
					if got, want := d.RetryAfter(n), m.wait(n); got != want {
						t.Fatalf("%d in %d, want %d; %v tokens", n, got, want, m.level)
					}
				}
				if got, want := d.take(n), m.take(n); got != want {
					t.Fatalf("%d passes: %v; %v tokens", n, got, m.level)
				}
				if got, want := d.Tokens(), m.tokens(); peek && got != want {
					t.Fatalf("%d tokens, want %d", got, want)
				}
			}
			if got, want := d.Tokens(), m.tokens(); got != want {
				t.Fatalf("%d tokens at the end, want %d", got, want)
			}
		})
	})
}

// model is a bucket in exact rationals.
type model struct {
	capacity int64
	rate     *big.Rat // tokens per nanosecond
	level    *big.Rat
}

func newModel(c lockfree.Config) *model {
	m := &model{c.Capacity, big.NewRat(c.Refill, int64(c.Every)), new(big.Rat)}
	if !c.StartEmpty {
		m.level.SetInt64(c.Capacity)
	}
	return m
}

// refill is a pure function of the level and the time.
func (m *model) refill(dt int64) {
	back := new(big.Rat).SetInt64(dt)
	m.level.Add(m.level, back.Mul(back, m.rate))
	if full := new(big.Rat).SetInt64(m.capacity); m.level.Cmp(full) > 0 {
		m.level = full
	}
}

func (m *model) take(n int64) bool {
	left := new(big.Rat).Sub(m.level, new(big.Rat).SetInt64(n))
	if left.Sign() < 0 {
		return false
	}
	m.level = left
	return true
}

func (m *model) tokens() int64 { return new(big.Int).Div(m.level.Num(), m.level.Denom()).Int64() }

func (m *model) wait(n int64) time.Duration {
	if n > m.capacity {
		return limiter.Never
	}
	short := new(big.Rat).Sub(new(big.Rat).SetInt64(n), m.level)
	if short.Sign() <= 0 {
		return 0
	}
	short.Quo(short, m.rate)
	up := new(big.Int).Add(short.Num(), short.Denom())
	up.Sub(up, big.NewInt(1))
	return time.Duration(up.Div(up, short.Denom()).Int64())
}
