package proxy_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// calls serves a call of alice's on this goroutine.
func (h *house) calls(body string) *httptest.ResponseRecorder {
	h.t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+secret)
	rec := httptest.NewRecorder()
	h.server.ServeHTTP(rec, r)
	return rec
}

// TestThreatTheSameBodyIsCountedOnce: who was refused and sends the same bytes again is refused by what is remembered of them, however
// often; nothing is there that could count them. A byte that changes makes another prompt, and it counts.
func TestThreatTheSameBodyIsCountedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		sentence string
		words    int
		status   int
	}{
		"no room now":               {"600 tokens in total", 290, http.StatusTooManyRequests},
		"no room ever":              {"600 tokens in total", 900, http.StatusBadRequest},
		"too long to be counted up": {"300k tokens in total", 400_000, http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, alice(t, c.sentence), answerWith(200, plainAnswer(300, 280)))
			body := `{"model":"gpt-4o-mini","max_tokens":300,"messages":[{"role":"user","content":"` + strings.Repeat("word ", c.words) + `"}]}`
			for c.status == http.StatusTooManyRequests {
				if got := h.calls(body); got.Code != http.StatusOK {
					break
				}
			}
			first := h.calls(body)
			if first.Code != c.status || h.server.Remembered() != 1 {
				t.Fatalf("%d, and %d refusals are remembered: %s", first.Code, h.server.Remembered(), first.Body)
			}
			again := h.server.Uncounting()
			for i := range 20 {
				if got := h.calls(body); got.Code != c.status || got.Body.String() != first.Body.String() {
					t.Fatalf("try %d: %d %s\nafter %s", i, got.Code, got.Body, first.Body)
				}
			}
			if n := h.metric("tokenfare_panics_total"); n != 0 {
				t.Errorf("%v calls were counted anew", n)
			}
			if got := h.calls(strings.Replace(body, "word word", "word Word", 1)); got.Code != http.StatusInternalServerError || h.metric("tokenfare_panics_total") != 1 {
				t.Errorf("a prompt that was never counted: %d %s", got.Code, got.Body)
			}
			again()
		})
	}
}

// TestThreatAHopelessPromptIsNeverCounted: one whose length alone says that it never fits is refused where nothing can count, the
// first time, too.
func TestThreatAHopelessPromptIsNeverCounted(t *testing.T) {
	h := newHouse(t, alice(t, "1000 tokens per minute"), answerWith(200, plainAnswer(1, 1)))
	again := h.server.Uncounting()
	defer again()
	for range 3 {
		got := h.calls(`{"model":"gpt-4o-mini","max_tokens":1,"messages":[{"role":"user","content":"` + strings.Repeat("qwertyuiop", 100_000) + `"}]}`)
		if got.Code != http.StatusBadRequest || !strings.Contains(got.Body.String(), "at least 7812 tokens") {
			t.Errorf("%d %s", got.Code, got.Body)
		}
	}
	if n := h.metric("tokenfare_panics_total"); n != 0 {
		t.Errorf("%v calls were counted", n)
	}
}
