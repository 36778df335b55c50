package cost

import (
	"strings"
	"testing"
)

func TestDamagedPriceListIsRefused(t *testing.T) {
	for rows, part := range map[string]string{
		`{"names":["a"],"encoding":"p60k"}`:                                                              "o200k_base",
		`{"names":["a"],"encoding":"o200k_base","price":{"input":"1e-6"}}`:                               "input",
		`{"names":["a"],"encoding":"o200k_base"},{"names":["a"],"encoding":"o200k_base"}`:                "twice",
		`{"names":["a*"],"encoding":"o200k_base","price":{"input":"1"}}`:                                 "family",
		`{"names":["a"],"encoding":"o200k_base","price":{"long":[{"input":"5"}]}}`:                       "long: above",
		`{"names":["a"],"encoding":"o200k_base","price":{"long":[{"above":5,"output":"x"}]}}`:            "long: output",
		`{"names":["a"],"encoding":"o200k_base","price":{"inputs":"5"}}`:                                 "inputs",
		`{"names":["a"],"encoding":"o200k_base","price":{"input":"20000"}}`:                              "another unit",
		`{"names":["a"],"encoding":"o200k_base","price":{"input":"5"},"flex":{"output":"0.00001"}}`:      "flex output",
		`{"names":["a"],"encoding":"o200k_base","price":{"per_image":"10000000"}}`:                       "too large",
		`{"names":["a"],"encoding":"o200k_base","price":{"input":"5"},"uplift":{"eu":"0.5","us":"1.1"}}`: "region",
		`{"names":["a"],"encoding":"o200k_base","price":{"input":"5"},"uplift":{"eu":"x","us":"1.1"}}`:   "uplift",
		`{"names":["a"],"encoding":"o200k_base","max_input":-1}`:                                         "negative",
		`{"names":["a"],"encoding":"o200k_base","max_inputs":1}`:                                         "max_inputs",
		`{"names":["a"],"encoding":"o200k_base","runs":"web"}`:                                           "the tool web",
		`{"names":["a"],"encoding":"o200k_base"`:                                                         "",
		`{"names":["a"],"encoding":"o200k_base","pictures":{"big":"1"}}`:                                 "standard/1024x1024",
		`{"names":["a"],"encoding":"o200k_base","pictures":{"5x5":"free"}}`:                              "pictures 5x5",
		`{"names":["a"],"encoding":"o200k_base","pictures":{"5x5":"500"}}`:                               "pictures 5x5: $500.00 for one picture",
	} {
		_, err := parseCatalog([]byte(`{"models":[` + rows + `]}`))
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: error %v does not mention %q", rows, err, part)
		}
	}
	for fees, part := range map[string]string{
		`"t":{"call":"x"}`:                               "tools t",
		`"t":{"session":"6"}`:                            "tools t: $6.00 for one session",
		`"t":{"call":"0.01","call_reasoning":"0.000.1"}`: "tools t",
		`"t":{"calls":"0.01"}`:                           "calls",
	} {
		_, err := parseCatalog([]byte(`{"tools":{"fees":{` + fees + `}}}`))
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: error %v does not mention %q", fees, err, part)
		}
	}
}
