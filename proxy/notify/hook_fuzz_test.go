package notify

import (
	"strings"
	"testing"
	"time"
)

// FuzzHookAnswer: what a webhook answers is shown only where it is a code, and nothing of its address is; what it asks to be left alone for
// is a time.
func FuzzHookAnswer(f *testing.F) {
	f.Add([]byte("channel_is_archived\n"), "30", "https://hooks.example/services/T0/B0/secret")
	f.Add([]byte("no service"), "-1", "https://hooks.example/no service")
	f.Add([]byte("secret"), "99999999999999999999", "https://hooks.example/secret")
	f.Add([]byte(strings.Repeat("a", 61)), "Wed, 21 Oct 2026 07:28:00 GMT", "")
	f.Add([]byte("invalid_token\x00"), "1e9", "u")
	f.Fuzz(func(t *testing.T, answer []byte, header, url string) {
		shown := code(answer, url)
		if shown != "" && (len(shown) > mostShown || strings.Contains(url, shown) || !strings.Contains(string(answer), shown)) {
			t.Errorf("%q is shown of %q from %q", shown, answer, url)
		}
		for _, c := range shown {
			if (c < 'a' || c > 'z') && c != '_' && c != ' ' {
				t.Errorf("%q is shown", shown)
			}
		}
		if d := delay(header); d < 0 || d%time.Second != 0 || d > 0 && strings.ContainsAny(header, ".,: e") {
			t.Errorf("Retry-After %q is %s", header, d)
		}
	})
}
