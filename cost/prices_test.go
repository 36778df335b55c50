package cost

import (
	"strings"
	"testing"
)

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
