package proxy_test

import (
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy"
)

// Ten thousand keys, each of which has had a call reserved, sent and settled, hold a bounded amount of memory each. What the program
// holds once, however many keys there are, is there before.
func TestThreatTenThousandKeys(t *testing.T) {
	const keys, most = 10_000, 15 << 10 // bytes for each
	heap := func() uint64 {
		runtime.GC()
		runtime.GC() // what pools keep is gone after the second
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	sentences := limits(t, "1000 tokens per minute", "5000 tokens in any hour", "10000 tokens each month")
	house := func(n int) *house {
		var spec proxy.Spec
		for i := range n {
			name := "key-" + strconv.Itoa(i)
			spec.Keys = append(spec.Keys, proxy.KeySpec{Name: name, Hashes: [][32]byte{sha256.Sum256([]byte(name))}, Limits: sentences})
		}
		h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
		for i := range n {
			r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(hi))
			r.Header.Set("Authorization", "Bearer key-"+strconv.Itoa(i))
			rec := httptest.NewRecorder()
			h.server.ServeHTTP(rec, r)
			<-h.asked
			if rec.Code != http.StatusOK || rec.Header().Get("x-ratelimit-limit-tokens") == "" {
				t.Fatalf("key %d: %d %v %s", i, rec.Code, rec.Header(), rec.Body)
			}
		}
		for i := range n {
			charge := []limiter.Charge{{Budget: h.budget("key key-"+strconv.Itoa(i), "5000 tokens in any hour")}}
			if _, err := h.limiter.Peek(t.Context(), charge); err != nil || charge[0].State.Used != 11 || charge[0].State.Held != 0 {
				t.Fatalf("key %d: %d used and %d held, want 11 and none: %v", i, charge[0].State.Used, charge[0].State.Held, err)
			}
		}
		return h
	}
	few := house(100)
	before := heap()
	many := house(keys)
	each := (heap() - before) / keys
	t.Logf("each key holds %d bytes", each)
	if each > most {
		t.Errorf("each key holds %d bytes, want at most %d", each, most)
	}
	runtime.KeepAlive(few)
	runtime.KeepAlive(many)
}

// What an idle key owes is owed until it is refilled, whatever happens meanwhile.
func TestThreatIdleDebt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		spec := alice(t, "1000 tokens per minute")
		v := newVirtual(t, spec, answerWith(200, plainAnswer(8, 30_000)))
		if got := v.chat(hi); got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		for range 28 { // 29,008 of debt and 58 to earn, at 1,000 a minute
			time.Sleep(time.Minute)
			v.server.SetPolicy(v.policy(spec))
			if got := v.chat(hi); got.status != http.StatusTooManyRequests {
				t.Fatalf("%d: what was owed is forgotten", got.status)
			}
		}
		time.Sleep(2 * time.Minute)
		if got := v.chat(hi); got.status != 200 {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
}
