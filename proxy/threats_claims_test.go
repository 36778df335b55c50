package proxy_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
)

// The budget follows the verified key: headers and members that claim to be somebody else, or to cost something else, change nothing.
func TestThreatClaimedIdentity(t *testing.T) {
	spec := alice(t, plenty)
	spec.Keys = append(spec.Keys, proxy.KeySpec{Name: "bob", Hashes: [][32]byte{sha256.Sum256([]byte("tf-bob"))}, Limits: limits(t, plenty)})
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
	h.chat(hi)
	<-h.asked
	if used := h.used(plenty); used != 11 {
		t.Fatalf("charged %d, want 11", used)
	}
	for i, name := range []string{
		"X-Forwarded-For", "X-Real-Ip", "Forwarded", "X-Forwarded-User", "X-Remote-User", "X-User", "X-User-Id", "X-Api-Key", "Api-Key", "X-Tokenfare-Key", "X-Tokenfare-Id",
		"X-Tokenfare-Reserved", "X-Tokenfare-Cost", "X-Tokenfare-Budget", "X-Ratelimit-Remaining-Tokens", "X-Token-Count", "X-Estimated-Tokens", "Openai-Organization", "Openai-Project",
		"X-Consumer-Username", "X-Litellm-Key", "Helicone-User-Id", "Proxy-Authorization", "Cookie", "X-Request-Id", "Idempotency-Key", "From", "Authorization2",
	} {
		got := h.chat(hi, name, "bob", name+"-2", "Bearer tf-bob")
		if used := h.used(plenty); got.status != 200 || used != int64(11*(i+2)) {
			t.Errorf("%s: %d, charged %d in all, want %d", name, got.status, used, 11*(i+2))
		}
		up := <-h.asked
		for header, values := range up.Header {
			if strings.Contains(strings.Join(values, " "), "bob") {
				t.Errorf("%s: %s: %v went upstream", name, header, values)
			}
		}
	}
	before := h.used(plenty)
	members := `,"max_tokens":50,"user":"bob","safety_identifier":"bob","metadata":{"key":"bob","cost":"0"},"prompt_cache_key":"bob"`
	if got := h.chat(fmt.Sprintf(whole["/v1/chat/completions"], members)); got.status != 200 || h.used(plenty)-before != 11 {
		t.Errorf("members that claim to be bob: %d, charged %d: %s", got.status, h.used(plenty)-before, got.body)
	}
	if used := h.state("key bob", plenty).Used; used != 0 {
		t.Errorf("bob was charged %d", used)
	}
}

// A model is one that is configured, by exactly that name: all other spellings lead nowhere, and a limit on a model holds for every
// name that leads to it.
func TestThreatModelNames(t *testing.T) {
	spec := alice(t, plenty, "1000000 tokens in total on gpt-5*")
	spec.Models = []proxy.ModelSpec{{Pattern: "gpt-4o-mini", Upstream: "up"}, {Pattern: "big", Upstream: "up", As: "gpt-5"}, {Pattern: "gpt-5*", Upstream: "up"}, {Pattern: "openai/gpt-5", Upstream: "up"}}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
	chat := func(model string) answer {
		return h.chat(`{"model":` + strconv.Quote(model) + `,"max_completion_tokens":50,"messages":[{"role":"user","content":"Hi"}]}`)
	}
	for name, status := range map[string]int{
		"GPT-4O-MINI": 404, "Gpt-4o-mini": 404, "gpt-4o-mini ": 400, " gpt-4o-mini": 400, "gpt-4o-mini\t": 400, "gpt-4o-mini\u00a0": 400, "gpt-4o-mini\u200b": 404, "gpt-4o-min\u0131": 404,
		"openai/gpt-4o-mini": 404, "models/gpt-4o-mini": 404, "ft:gpt-4o-mini:org::1": 404, "gpt-4o-mini:free": 404, "gpt-4o-mini-2024-07-18": 404, "gpt-4o-mini,gpt-5": 404,
		"gpt-4": 404, "gpt-4o": 404, "*": 404, "gpt-*": 404, "?": 404, "": 400, "../gpt-4o-mini": 404, "unheard-of": 404, strings.Repeat("x", 257): 400,
	} {
		h.wantRefused(t, name, chat(name), status)
	}
	for i, name := range []string{"gpt-5", "gpt-5-2025-08-07", "big", "openai/gpt-5"} {
		got := chat(name)
		if used := h.used("1000000 tokens in total on gpt-5*"); got.status != 200 || used != int64(11*(i+1)) {
			t.Errorf("%s: %d, the limit on gpt-5* has counted %d, want %d: %.200s", name, got.status, used, 11*(i+1), got.body)
		}
	}
}

// Who hammers while refused is let in at the moment that was told first, and neither later nor sooner.
func TestThreatHammering(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		v := newVirtual(t, alice(t, "600 tokens per minute"), answerWith(200, plainAnswer(300, 280)))
		body := `{"model":"gpt-4o-mini","max_tokens":300,"messages":[{"role":"user","content":"` + strings.TrimSpace(strings.Repeat("word ", 290)) + `"}]}`
		if got := v.chat(body); got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		began := time.Now()
		wait := func(got reply) time.Duration {
			ms, err := strconv.Atoi(got.header.Get("retry-after-ms"))
			if got.status != http.StatusTooManyRequests || err != nil {
				t.Fatalf("%d, retry-after-ms %q: %s", got.status, got.header.Get("retry-after-ms"), got.body)
			}
			return time.Duration(ms) * time.Millisecond
		}
		free := began.Add(wait(v.chat(body)))
		for i := range 200 {
			if again := time.Now().Add(wait(v.chat(body))); again.Sub(free).Abs() > 2*time.Millisecond {
				t.Fatalf("after %d tries the wait ends at %s, and at first it ended at %s", i, again.Sub(began), free.Sub(began))
			}
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Until(free))
		if got := v.chat(body); got.status != 200 {
			t.Errorf("when the wait is over: %d %s", got.status, got.body)
		}
		if n := len(v.sent()); n != 2 {
			t.Errorf("%d calls reached the upstream, want 2", n)
		}
	})
}

// Images are addresses to us, and files and recordings may not be: nothing is fetched, and what the upstream answers with is not followed.
func TestThreatAddressesInRequests(t *testing.T) {
	fetched := make(chan string, 100)
	bait := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { fetched <- r.URL.Path })
	trap := newTrap(t, bait)
	h := newHouse(t, alice(t, plenty), answerWith(200, plainAnswer(8, 3)))
	for _, part := range []string{
		`{"type":"image_url","image_url":{"url":"%s"}}`, `{"type":"image_url","image_url":{"url":"%s","detail":"high"}}`, `{"type":"text","text":"%s"}`,
		`{"type":"file","file":{"file_data":"%s","filename":"%[1]s"}}`, `{"type":"input_audio","input_audio":{"data":"%s","format":"wav"}}`, `{"type":"video_url","video_url":{"url":"%s"}}`,
	} {
		for _, address := range []string{trap + "/x.png", "file:///etc/passwd", strings.Replace(trap, "http://", "http://user:pass@", 1) + "/y"} {
			h.chat(fmt.Sprintf(`{"model":"gpt-4o-mini","max_tokens":5,"messages":[{"role":"user","content":[`+part+`]}]}`, address))
		}
	}
	for _, part := range []string{`{"type":"input_image","image_url":"%s"}`, `{"type":"input_file","file_url":"%s"}`} {
		h.asks(http.MethodPost, "/v1/responses", fmt.Sprintf(`{"model":"gpt-4o-mini","input":[{"role":"user","content":[`+part+`]}]}`, trap+"/z"))
	}
	for _, member := range []string{"api_base", "base_url", "api_key", "extra_body"} {
		h.asks(http.MethodPost, "/v1/chat/completions", fmt.Sprintf(whole["/v1/chat/completions"], `,"`+member+`":"`+trap+`"`))
	}
	if n := len(h.asked); n != 10 { // files and recordings at an address have no cost that is known before
		t.Errorf("%d requests with addresses reached the upstream, want the 10 with images and text", n)
	}
	for len(h.asked) > 0 {
		if up := <-h.asked; "http://"+up.Host+"/v1" != h.spec.Upstreams[0].URL {
			t.Errorf("a request went to %s", up.Host)
		}
	}
	for _, status := range []int{301, 302, 303, 307, 308, 300, 304} {
		h := newHouse(t, alice(t, plenty), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", trap+"/moved")
			w.Header().Set("Refresh", "0; url="+trap)
			w.WriteHeader(status)
		})
		got := h.chat(hi)
		if got.status != http.StatusBadGateway || strings.Contains(got.body+fmt.Sprint(got.header), trap) {
			t.Errorf("a redirect with %d: %d %v %s", status, got.status, got.header, got.body)
		}
		if used := h.used(plenty); used != 0 {
			t.Errorf("a redirect with %d is charged %d", status, used)
		}
	}
	if len(fetched) != 0 {
		t.Errorf("%s was fetched", <-fetched)
	}
}
