package wire

import "testing"

// TestWhatMayBeLeftOut is what a request says of truncation, unless it says that there is none.
func TestWhatMayBeLeftOut(t *testing.T) {
	for said, want := range map[string]bool{
		"": false, `,"truncation":null`: false, `,"truncation":"disabled"`: false, `,"truncation":"auto"`: true,
		`,"truncation":"\u0061uto"`: true, `,"truncation":"of a kind"`: true, `,"truncation":{"type":"auto"}`: true,
	} {
		if req := readAt(t, Responses, `{"model":"m","input":"a"`+said+`}`); req.Shortens != want {
			t.Errorf("%s: %v", said, req.Shortens)
		}
	}
}
