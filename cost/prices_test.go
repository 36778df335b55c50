package cost

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPricesThatAreNotListedAreThoseOfInput(t *testing.T) {
	c, err := parseCatalog([]byte(`{"models":[
		{"names":["plain"],"encoding":"o200k_base","input":"2","output":"8"},
		{"names":["free"],"encoding":"o200k_base","input":"2","cached_input":"0","cache_write":"0","output":"8"},
		{"names":["long"],"encoding":"o200k_base","input":"2","cached_input":"1","output":"8","long_above":9,"long":{"input":"4","output":"9"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	const usd = 1_000_000_000
	for name, want := range map[string]Price{
		"plain": {Input: 2 * usd, CachedInput: 2 * usd, CacheWrite: 2 * usd, Output: 8 * usd},
		"free":  {Input: 2 * usd, Output: 8 * usd},
		"long": {
			Input: 2 * usd, CachedInput: usd, CacheWrite: 2 * usd, Output: 8 * usd,
			LongAbove: 9, Long: &Price{Input: 4 * usd, CachedInput: 4 * usd, CacheWrite: 4 * usd, Output: 9 * usd},
		},
	} {
		if diff := cmp.Diff(want, c.Model(name).Price); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestDamagedPriceListIsRefused(t *testing.T) {
	for rows, part := range map[string]string{
		`{"names":["a"],"encoding":"p60k"}`:                                               "o200k_base",
		`{"names":["a"],"encoding":"o200k_base","input":"1e-6"}`:                          "input",
		`{"names":["a"],"encoding":"o200k_base"},{"names":["a"],"encoding":"o200k_base"}`: "twice",
		`{"names":["a*"],"encoding":"o200k_base","input":"1"}`:                            "family",
		`{"names":["a"],"encoding":"o200k_base","long_above":5}`:                          "belong together",
		`{"names":["a"],"encoding":"o200k_base","long_above":5,"long":{"output":"x"}}`:    "long: output",
		`{"names":["a"],"encoding":"o200k_base","max_input":-1}`:                          "negative",
		`{"names":["a"],"encoding":"o200k_base","max_inputs":1}`:                          "max_inputs",
		`{"names":["a"],"encoding":"o200k_base"`:                                          "",
	} {
		_, err := parseCatalog([]byte(`{"models":[` + rows + `]}`))
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: error %v does not mention %q", rows, err, part)
		}
	}
}
