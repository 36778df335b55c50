package wire

import "testing"

// TestPlainStrings: escapes that need not be are gone, names included; what is no JSON stays as it is.
func TestPlainStrings(t *testing.T) {
	for in, want := range map[string]string{
		`{ "a": "b" }`: `{ "a": "b" }`,
		`{"\u0061":["b\/c","\u002B\u003d",{"a":"\ud83d\ude00"}],"a":"b\"\\"}`: `{"a":["b/c","+=",{"a":"😀"}],"a":"b\"\\"}`,
		`oops \u0061`:         `oops \u0061`,
		`{"a":"\u0061"} more`: `{"a":"\u0061"} more`,
		``:                    ``,
	} {
		if got := string(PlainStrings([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
