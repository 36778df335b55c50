package proxy_test

import (
	"net/http"
	"testing"
	"time"
)

// TestOddWaitsOfAnUpstream are not passed on, in whichever header: clients differ about what they mean.
func TestOddWaitsOfAnUpstream(t *testing.T) {
	soon := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	for _, c := range []struct{ name, value, passes string }{
		{"Retry-After", "7", "7"},
		{"Retry-After", "1", "1"},
		{"Retry-After", "007", "7"},
		{"Retry-After", soon, soon},
		{"Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"},
		{"Retry-After", "0", ""},
		{"Retry-After", "00", ""},
		{"Retry-After", "1e3", ""},
		{"Retry-After", "+5", ""},
		{"Retry-After", "1.5", ""},
		{"Retry-After", "1.", ""},
		{"Retry-After", ".5", ""},
		{"Retry-After", "-3", ""},
		{"Retry-After", "soon", ""},
		{"Retry-After", "1e99", ""},
		{"Retry-After", "9999999999", ""},
		{"Retry-After", "0x10", ""},
		{"Retry-After", "1_0", ""},
		{"Retry-After", "7, 8", ""},
		{"Retry-After", "7 s", ""},
		{"Retry-After", "\u0661", ""},
		{"Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT", ""},
		{"Retry-After-Ms", "1500", "1500"},
		{"Retry-After-Ms", "12.5", "13"},
		{"Retry-After-Ms", "12.0", "12"},
		{"Retry-After-Ms", "0.001", "1"},
		{"Retry-After-Ms", "0", ""},
		{"Retry-After-Ms", "0.0", ""},
		{"Retry-After-Ms", "1e3", ""},
		{"Retry-After-Ms", "+5", ""},
		{"Retry-After-Ms", "5.", ""},
		{"Retry-After-Ms", soon, ""},
	} {
		h := newHouse(t, alice(t), func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(c.name, c.value)
			answerWith(503, errorBody("down"))(w, r)
		})
		if got := h.chat(hi); got.status != 503 || got.header.Get(c.name) != c.passes || len(got.header.Values(c.name)) > 1 {
			t.Errorf("%s: %q passes as %q, want %q", c.name, c.value, got.header.Values(c.name), c.passes)
		}
	}
}
