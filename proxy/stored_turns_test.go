package proxy_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestAListThatIsTooLongIsNotRetried: it has taken some hundred requests to the upstream already.
func TestAListThatIsTooLongIsNotRetried(t *testing.T) {
	v := freshVault(t)
	v.stored.Add("chat.completion", 6000)
	got := v.as(secret, "GET", "/v1/chat/completions", "")
	if _, _, _, code := got.errorOf(t); got.status != http.StatusServiceUnavailable || code != "list_too_long" || got.header.Get("X-Should-Retry") != "false" {
		t.Errorf("%d %v %s", got.status, got.header, got.body)
	}
}

// TestOneListAtATime for each key, and few that wait for their turn, none of them for long.
func TestOneListAtATime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var running, most atomic.Int32
		v := newVirtual(t, alice(t, "1000 tokens in total"), func(w http.ResponseWriter, _ *http.Request) {
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(4 * time.Second)
			running.Add(-1)
			_, _ = w.Write([]byte(`{"object":"list","data":[],"has_more":false}`))
		})
		caller := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: v.network.Dial}}
		var all sync.WaitGroup
		var listed, refused atomic.Int32
		for range 12 {
			all.Go(func() {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://proxy/v1/files", nil)
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set("Authorization", "Bearer "+secret)
				began := time.Now()
				resp, err := caller.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				switch took := time.Since(began); {
				case resp.StatusCode == http.StatusOK && took <= 12*time.Second:
					listed.Add(1)
				case resp.StatusCode == http.StatusTooManyRequests && took <= 10*time.Second && resp.Header.Get("Retry-After") == "5" && strings.Contains(string(body), "one is made at a time"):
					refused.Add(1)
				default:
					t.Errorf("%d after %s: %s, %v", resp.StatusCode, took, body, err)
				}
			})
		}
		all.Wait()
		synctest.Wait()
		if listed.Load() != 3 || refused.Load() != 9 || most.Load() != 1 {
			t.Errorf("%d were listed and %d refused, %d at once", listed.Load(), refused.Load(), most.Load())
		}
	})
}
