package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// An upstream that has no room, or is not well, is told by its status: where its words cannot be read there are others, and its
// Retry-After stays.
func TestThreatErrorsThatCannotBeRead(t *testing.T) {
	const short = "is short, not the budget of your key"
	for name, rest := range map[string]struct {
		write func(w http.ResponseWriter, r *http.Request)
		took  time.Duration
	}{
		"it breaks off": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0},
		"it is too long": {func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, strings.Repeat("x", 2<<20)+`"}}`)
		}, 0},
		"it stalls": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 5 * time.Second},
	} {
		for _, status := range []int{429, 503, 529, 400} {
			if status == 400 && rest.took > 0 {
				continue // it is waited for, as any other answer is
			}
			t.Run(fmt.Sprint(status, " ", name), func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					v := newVirtual(t, alice(t, plenty), func(w http.ResponseWriter, r *http.Request) {
						w.Header().Set("Content-Type", "application/json")
						w.Header().Set("Retry-After", "7")
						w.WriteHeader(status)
						io.WriteString(w, `{"error":{"message":"sk-upstream-secret `)
						http.NewResponseController(w).Flush()
						rest.write(w, r)
					})
					got := v.chat(hi)
					want, again := status, "7"
					if status == 400 {
						want, again = 502, ""
					}
					if got.status != want || got.header.Get("Retry-After") != again || got.whole != rest.took {
						t.Errorf("%d after %s, Retry-After %q: %s", got.status, got.whole, got.header.Get("Retry-After"), got.body)
					}
					message, _, _, _ := got.errorOf(t)
					if strings.Contains(message, short) != (status == 429) || strings.Contains(got.body, "sk-") {
						t.Errorf("it says %s", message)
					}
					if used := v.usedOf(t, plenty); used != 0 {
						t.Errorf("charged %d", used)
					}
				})
			})
		}
	}
}
