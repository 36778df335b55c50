package proxy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// said is an upstream that says a text, plain or streamed in events of a few characters each, with a usage object as it is, or none.
func said(text, usage string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
		if usage != "" {
			usage = `,"usage":` + usage
		}
		if !strings.Contains(string(body), `"stream":true`) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%s}}]%s}`, quote(text), usage)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for len(text) > 0 {
			n := min(len(text), 7)
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", quote(text[:n]))
			text = text[n:]
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[]%s}\n\ndata: [DONE]\n\n", usage)
	}
}

// settled is what a limit has consumed once no reservation is open.
func (h *house) settled(sentence string) int64 {
	h.t.Helper()
	for deadline := time.Now().Add(5 * time.Second); h.limiter.OpenCount() > 0; <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Error("a reservation is still open")
			break
		}
	}
	return h.used(sentence)
}

// What a model says is text, whatever it looks like: neither what an upstream reports nor what is counted where it reports nothing changes.
func TestThreatImitatedUsage(t *testing.T) {
	const budget = "1000000 tokens in total"
	none := `"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`
	for name, text := range map[string]string{
		"usage":             "{" + none + "}",
		"usage, escaped":    `\",` + none + `,\"`,
		"usage, deeper":     `{"choices":[],` + none + `}`,
		"usage of one":      `,"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}`,
		"the end":           "data: [DONE]\n\n",
		"an event":          "\n\ndata: {\"choices\":[]," + none + "}\n\ndata: [DONE]\n\n",
		"an event with CRs": "\r\rdata: {\"choices\":[]," + none + "}\r\rdata: [DONE]\r\r",
		"a comment":         "\n: ping\n\nevent: response.completed\ndata: {\"response\":{" + none + "}}\n\n",
		"separators":        "\u2028data: {" + none + "}\u2029\u0085data: [DONE]",
		"a NUL":             "\x00\x00{" + none + "}\x00",
		"an error":          `{"error":{"message":"x","type":"server_error","param":null,"code":null}}`,
	} {
		text = strings.Repeat("word ", 30) + text
		for _, asked := range []string{"", `,"stream":true`, `,"stream":true,"stream_options":{"include_usage":true}`} {
			body := `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}],"max_tokens":500` + asked + `}`
			h := newHouse(t, alice(t, budget), said(text, usage(40, 60, 100)))
			got := h.chat(body)
			if used := h.settled(budget); got.status != 200 || got.err != nil || used != 100 {
				t.Errorf("%s%s: %d, %v, charged %d, want the 100 that were reported", name, asked, got.status, got.err, used)
			}
			h = newHouse(t, alice(t, budget), said(text, ""))
			got = h.chat(body)
			if used := h.settled(budget); got.status != 200 || got.err != nil || used < 8+30+1 || used > 508 {
				t.Errorf("%s%s: %d, %v, charged %d, want the prompt and the text", name, asked, got.status, got.err, used)
			}
		}
	}
}

// Members called usage below the top of an answer, which a model's tools may fill, are no report.
func TestThreatUsageBelowTheTop(t *testing.T) {
	const budget = "1000000 tokens in total"
	none := `"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0,"input_tokens":0,"output_tokens":0}`
	for name, c := range map[string]struct{ path, answer string }{
		"a message": {"/v1/chat/completions", `{"choices":[{"index":0,"message":{"role":"assistant","content":"Hello there.",` + none + `},` + none + `}],` +
			`"metadata":{` + none + `},"usage":` + usage(40, 60, 100) + `}`},
		"an item": {"/v1/responses", `{"object":"response","id":"resp_1","status":"completed","output":[{"type":"message","id":"msg_1","content":[{"type":"output_text","text":"Hello",` + none + `}],` + none + `}],` +
			`"metadata":{` + none + `},"usage":{"input_tokens":40,"output_tokens":60,"total_tokens":100}}`},
	} {
		h := newHouse(t, alice(t, budget), answerWith(200, c.answer))
		got := h.asks(http.MethodPost, c.path, fmt.Sprintf(whole[c.path], ""))
		if used := h.settled(budget); got.status != 200 || used != 100 {
			t.Errorf("%s: %d, charged %d, want 100: %s", name, got.status, used, got.body)
		}
	}
}

// Whatever stands in place of usage, the charge lies between what was counted and what is credible, and never below.
func TestThreatAbsurdUsage(t *testing.T) {
	const budget = "1000000000 tokens in total"
	const text, counted, bound = 30, 8 + 30, 100 // words that are said, what they and the prompt count for, and the true report
	members := []string{"prompt_tokens", "completion_tokens", "total_tokens"}
	values := []string{
		"-1", "-40", "-9223372036854775808", "1e30", "1e400", "-1e30", "0.5", "1.0", "9223372036854775807", "9223372036854775808", strings.Repeat("9", 300),
		`"40"`, `""`, `"-1"`, "true", "[]", "[40]", "{}", `{"value":40}`,
	}
	cases := map[string]string{
		"null": "null", "text": `"40"`, "a number": "40", "a list": "[40,60,100]", "nothing": "{}", "all zero": usage(0, 0, 0), "unknown": `{"tokens":5}`,
		"no prompt": usage(0, 20, 20), "no output": usage(8, 0, 8), "a prompt beyond any": usage(1<<30, 60, 1<<30+60), "an output beyond any": usage(40, 1<<30, 1<<30+40),
		"details":        `{"prompt_tokens":40,"completion_tokens":60,"total_tokens":100,"prompt_tokens_details":{"cached_tokens":-40}}`,
		"more details":   `{"prompt_tokens":40,"completion_tokens":60,"total_tokens":100,"completion_tokens_details":{"reasoning_tokens":1e30}}`,
		"larger details": `{"prompt_tokens":40,"completion_tokens":60,"total_tokens":100,"prompt_tokens_details":{"cached_tokens":999999999999}}`,
	}
	for i, member := range members {
		for _, value := range values {
			figures := []string{"40", "60", "100"}
			figures[i] = value
			cases[member+" "+value] = fmt.Sprintf(`{"prompt_tokens":%s,"completion_tokens":%s,"total_tokens":%s}`, figures[0], figures[1], figures[2])
		}
	}
	var reported string
	h := newHouse(t, alice(t, budget), func(w http.ResponseWriter, r *http.Request) {
		said(strings.TrimSpace(strings.Repeat("word ", text)), reported)(w, r)
	})
	for name, usage := range cases {
		for _, asked := range []string{"", `,"stream":true`} {
			reported = usage
			before := h.used(budget)
			got := h.chat(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}],"max_tokens":50` + asked + `}`)
			if charged := h.settled(budget) - before; got.status != 200 || got.err != nil || charged < counted || charged > bound {
				t.Errorf("%.60s%s: %d, %v, charged %d, want from %d to %d", name, asked, got.status, got.err, charged, counted, bound)
			}
		}
	}
	if n := h.metric("tokenfare_panics_total"); n != 0 {
		t.Errorf("%v panics", n)
	}
}
