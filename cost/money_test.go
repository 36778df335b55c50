package cost_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/cost"
)

func TestParseUSD(t *testing.T) {
	for _, c := range []struct {
		in   string
		want cost.NanoUSD
		out  string
	}{
		{"$10", 10_000_000_000, "$10.00"},
		{"0.25", 250_000_000, "$0.25"},
		{"$12.5", 12_500_000_000, "$12.50"},
		{"$0.000123", 123_000, "$0.000123"},
		{"0.000000001", 1, "$0.000000001"},
		{"0", 0, "$0.00"},
		{"000", 0, "$0.00"},
		{"007.10", 7_100_000_000, "$7.10"},
		{"$9223372036.854775807", math.MaxInt64, "$9223372036.854775807"},
	} {
		got, err := cost.ParseUSD(c.in)
		if err != nil || got != c.want || got.String() != c.out {
			t.Errorf("ParseUSD(%q) = %d, %v, printed %s; want %d, %s", c.in, got, err, got, c.want, c.out)
		}
	}
}

func TestParseUSDMistakes(t *testing.T) {
	for in, part := range map[string]string{
		"":                      `"$10"`,
		"$":                     `"$10"`,
		"ten":                   `"$10"`,
		"-1":                    `"$10"`,
		"+1":                    `"$10"`,
		" 1":                    `"$10"`,
		"1,000":                 `"$10"`,
		"1e3":                   `"$10"`,
		".5":                    `"$10"`,
		"5.":                    `"$10"`,
		"1.2.3":                 `"$10"`,
		"$$1":                   `"$10"`,
		"١":                     `"$10"`,
		"0.0000000001":          "9 digits",
		"9223372036.854775808":  "too large",
		strings.Repeat("9", 99): "too large",
	} {
		if got, err := cost.ParseUSD(in); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("ParseUSD(%q) = %d, %v; want an error that says %s", in, got, err, part)
		}
	}
}

func TestNegativeAmountsPrint(t *testing.T) {
	for n, want := range map[cost.NanoUSD]string{
		-1_500_000_000: "-$1.50",
		-1:             "-$0.000000001",
		math.MinInt64:  "-$9223372036.854775808",
	} {
		if got := n.String(); got != want {
			t.Errorf("%d prints %s, want %s", int64(n), got, want)
		}
	}
}

func FuzzParseUSD(f *testing.F) {
	for _, s := range []string{"$10", "0.25", "9223372036.854775807", "1.", "$-1", "00.000000000"} {
		f.Add(s, int64(12345))
	}
	f.Fuzz(func(t *testing.T, s string, n int64) {
		if got, err := cost.ParseUSD(s); err == nil {
			if again, err := cost.ParseUSD(got.String()); err != nil || again != got || got < 0 {
				t.Fatalf("%q is %d, printed %s, read again %d, %v", s, got, got, again, err)
			}
		}
		if n >= 0 {
			if got, err := cost.ParseUSD(cost.NanoUSD(n).String()); err != nil || int64(got) != n {
				t.Fatalf("%d printed %s, read %d, %v", n, cost.NanoUSD(n), got, err)
			}
		}
	})
}
