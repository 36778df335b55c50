package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestEmbeddingsReportNoMoreThanTheyWereSent: a usage of more tokens than the request has bytes is not believed.
func TestEmbeddingsReportNoMoreThanTheyWereSent(t *testing.T) {
	const body = `{"model":"text-embedding-3-small","input":["one","two"]}`
	for reported, charged := range map[int]int64{4: 4, len(body): int64(len(body)), len(body) + 1: 2, 9_000_000: 2} {
		h := newHouse(t, alice(t, "100m tokens in total"), answerWith(200, fmt.Sprintf(
			`{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5]}],"model":"m","usage":{"prompt_tokens":%d,"total_tokens":%d}}`, reported, reported,
		)))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+"/v1/embeddings", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		if got := h.do(r); got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		if used := h.used("100m tokens in total"); used != charged {
			t.Errorf("of %d tokens that were reported %d are charged, want %d", reported, used, charged)
		}
	}
}
