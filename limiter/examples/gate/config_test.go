package gate_test

import (
	"math"
	"math/big"
	"strconv"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/limiter/examples/gate"
)

func TestRates(t *testing.T) {
	for _, c := range []struct {
		rate     float64
		interval time.Duration
		refill   int64
		every    time.Duration
	}{
		{1, time.Second, 1, time.Second},
		{10, 10 * time.Second, 1, time.Second},
		{0.1, time.Second, 1, 10 * time.Second},
		{2.5, time.Second, 1, 400 * time.Millisecond},
		{0.3, time.Second, 3, 10 * time.Second},
		{0.7, 500 * time.Millisecond, 7, 5 * time.Second},
		{1.000000001, time.Second, 1_000_000_001, 1_000_000_000 * time.Second},
		{1e-9, time.Second, 1, 1_000_000_000 * time.Second},
		{1.5, time.Minute, 1, 40 * time.Second},
		{3e9, time.Second, 3, time.Nanosecond},
		{1 << 53, time.Nanosecond, 1 << 53, time.Nanosecond},
	} {
		got, err := gate.Config{Capacity: 5, RefillRate: c.rate, RefillInterval: c.interval}.Rule()
		if err != nil || int64(got.Every)*c.refill != got.Refill*int64(c.every) || got.Size != 5 {
			t.Errorf("%v per %v: %+v, %v; want %d per %v", c.rate, c.interval, got, err, c.refill, c.every)
		}
	}
	for _, bad := range []gate.Config{
		{},
		{Capacity: 5, RefillRate: 1},
		{Capacity: 5, RefillInterval: time.Second},
		{RefillRate: 1, RefillInterval: time.Second},
		perSecond(5, -1),
		perSecond(5, math.NaN()),
		perSecond(5, math.Inf(1)),
		perSecond(5, math.SmallestNonzeroFloat64),
		perSecond(5, math.MaxFloat64),
		perSecond(5, 1.0/3),
		perSecond(5, math.Nextafter(0.3, 1)), // 0.30000000000000004
		perSecond(math.MaxInt64-1, 0.1),
		{Capacity: 5, RefillRate: 1, RefillInterval: -time.Second},
	} {
		if got, err := bad.Rule(); err == nil {
			t.Errorf("%+v: %+v", bad, got)
		}
		if _, err := gate.New(gate.Options{Limiter: limiter.NewMemory(), Buckets: map[gate.Pattern]gate.Config{gate.PerUser: bad}}); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
	if _, err := gate.New(gate.Options{}); err == nil {
		t.Error("a gate without a limiter")
	}
}

// FuzzRate has every rate that is accepted kept as it was written.
func FuzzRate(f *testing.F) {
	f.Add(0.1, int64(time.Second), int64(5))
	f.Add(123.456789, int64(7), int64(1)<<40)
	f.Fuzz(func(t *testing.T, rate float64, interval, capacity int64) {
		rule, err := gate.Config{Capacity: capacity, RefillRate: rate, RefillInterval: time.Duration(interval)}.Rule()
		if err != nil {
			return
		}
		want, ok := new(big.Rat).SetString(strconv.FormatFloat(rate, 'f', -1, 64))
		if !ok {
			t.Fatalf("%v was accepted", rate)
		}
		want.Quo(want, big.NewRat(interval, 1))
		if got := big.NewRat(rule.Refill, int64(rule.Every)); got.Cmp(want) != 0 || rule.Size != capacity {
			t.Fatalf("%+v is %v per nanosecond, want %v", rule, got, want)
		}
	})
}
