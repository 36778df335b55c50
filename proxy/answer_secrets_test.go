package proxy_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/proxy"
)

// What an upstream tells of its account, plainly and escaped, and what is left of it.
const (
	toldOfAccount   = `key sk-upstream-secret (sk\u002dupstream\u002Dsecret), token very\/secret-4711, org-AbCdEf123, proj_Xy12345 (org\u002dAbCdEf123)`
	hiddenOfAccount = `key [key] ([key]), token [key], org-…, proj_… (org-…)`
)

// ofAccount is a proxy for alice whose upstream has secrets.
func ofAccount(t *testing.T) proxy.Spec {
	spec := alice(t, "1000 tokens in total")
	spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", Key: "sk-upstream-secret", Set: map[string]string{"X-Token": "very/secret-4711"}}}
	return spec
}

// framings are how a plain answer may come.
var framings = map[string]func(w http.ResponseWriter, text string){
	"its length is told": func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		_, _ = w.Write([]byte(text))
	},
	"in chunks":         func(w http.ResponseWriter, text string) { flushed(w, text, max(7, len(text)/500)) },
	"in one chunk":      func(w http.ResponseWriter, text string) { flushed(w, text, len(text)) },
	"kept alive before": func(w http.ResponseWriter, text string) { flushed(w, "\n \r\n"+text, max(3, len(text)/500)) },
	"packed": func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Encoding", "gzip")
		packed := zipped(text)
		w.Header().Set("Content-Length", strconv.Itoa(len(packed)))
		_, _ = w.Write([]byte(packed))
	},
	"packed, in chunks": func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Encoding", "gzip")
		flushed(w, zipped(text), 7)
	},
}

func flushed(w http.ResponseWriter, text string, size int) {
	for text != "" {
		n := min(size, len(text))
		_, _ = w.Write([]byte(text[:n]))
		_ = http.NewResponseController(w).Flush()
		text = text[n:]
	}
}

// TestAnErrorInAPlainAnswerTellsNothingOfTheAccount though its status is 200; what a model says passes as it is.
func TestAnErrorInAPlainAnswerTellsNothingOfTheAccount(t *testing.T) {
	const usage = `"usage":{"prompt_tokens":8,"completion_tokens":3,"total_tokens":11}`
	long := strings.Repeat("instructions ", 30_000) // beyond what is read ahead
	for name, c := range map[string]struct {
		path, answer string
		says         bool // it is the model that says so
	}{
		"an error":              {"/v1/chat/completions", `{"error":{"message":"` + toldOfAccount + `","code":429},` + usage + `}`, false},
		"an error that is text": {"/v1/chat/completions", `{"error":"` + toldOfAccount + `",` + usage + `}`, false},
		"said before it":        {"/v1/chat/completions", `{"message":"` + toldOfAccount + `",` + usage + `,"error":{"code":1}}`, false},
		"said behind it":        {"/v1/chat/completions", `{"error":{"code":1},"detail":"` + toldOfAccount + `",` + usage + `}`, false},
		"a response":            {"/v1/responses", `{"id":"resp_1","status":"failed","error":{"code":"rate_limit_exceeded","message":"` + toldOfAccount + `"},"output":[],"usage":{"input_tokens":8,"output_tokens":3,"total_tokens":11}}`, false},
		"a long response":       {"/v1/responses", `{"id":"resp_1","error":{"message":"` + toldOfAccount + `"},"instructions":"` + long + `","usage":{"input_tokens":8,"output_tokens":3,"total_tokens":11}}`, false},
		"an error at its end":   {"/v1/responses", `{"id":"resp_1","instructions":"` + long + `","usage":{"input_tokens":8,"output_tokens":3,"total_tokens":11},"error":{"message":"` + toldOfAccount + `"}}`, false},

		"the model":            {"/v1/chat/completions", `{"choices":[{"index":0,"message":{"role":"assistant","content":"\"error\": ` + toldOfAccount + `"}}],` + usage + `}`, true},
		"the model, no error":  {"/v1/chat/completions", `{"error":null,"choices":[{"index":0,"message":{"role":"assistant","content":"` + toldOfAccount + `"}}],` + usage + `}`, true},
		"the model, at length": {"/v1/chat/completions", `{"choices":[{"index":0,"message":{"role":"assistant","content":"` + toldOfAccount + long + `"}}],"error":null,` + usage + `}`, true},
		"a tool's error":       {"/v1/responses", `{"id":"resp_1","error":null,"output":[{"type":"mcp_call","error":"` + toldOfAccount + `"}],"usage":{"input_tokens":8,"output_tokens":3,"total_tokens":11}}`, true},
	} {
		for way, write := range framings {
			for _, streamed := range []bool{false, true} {
				t.Run(name+", "+way+", streamed: "+strconv.FormatBool(streamed), func(t *testing.T) {
					h := newHouse(t, ofAccount(t), func(w http.ResponseWriter, _ *http.Request) {
						w.Header().Set("Content-Type", "application/json")
						write(w, c.answer)
					})
					got := h.ask(c.path, `"stream":`+strconv.FormatBool(streamed))
					got.passed(t, way, c.answer, c.says)
					if used := h.settledSoon("1000 tokens in total", 11); used != 11 {
						t.Errorf("charged %d, want the reported 11", used)
					}
				})
			}
		}
	}
}

// passed: a plain answer came as it was framed, and tells nothing of the account where it says nothing of a model.
func (a answer) passed(t *testing.T, way, want string, says bool) {
	t.Helper()
	if !says {
		want = strings.ReplaceAll(want, toldOfAccount, hiddenOfAccount)
	}
	if strings.HasPrefix(way, "kept alive") {
		want = "\n \r\n" + want
	}
	if a.status != http.StatusOK || a.err != nil || a.body != want || a.header.Get("Content-Encoding") != "" {
		t.Errorf("%d %v %.1000q, %v", a.status, a.header, a.body, a.err)
	}
	if length := a.header.Get("Content-Length"); way == "its length is told" && len(want) < 1<<18 && length != strconv.Itoa(len(want)) {
		t.Errorf("Content-Length %q of %d bytes", length, len(want))
	}
}

// ask makes a call of little to an endpoint.
func (h *house) ask(path, members string) answer {
	h.t.Helper()
	body := `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}],"max_tokens":50,` + members + `}`
	if path == "/v1/responses" {
		body = `{"model":"gpt-4o-mini","input":"Hi","max_output_tokens":50,"store":false,` + members + `}`
	}
	r, _ := http.NewRequest(http.MethodPost, h.url+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+secret)
	r.Header.Set("Accept-Encoding", "gzip")
	return h.do(r)
}

// TestAPlainAnswerThatComesLateIsKeptAlive: neither its head nor the blanks before it wait for it.
func TestAPlainAnswerThatComesLateIsKeptAlive(t *testing.T) {
	seen := make(chan struct{})
	h := newHouse(t, ofAccount(t), func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for _, piece := range []string{"", "\n", plainAnswer(8, 3)} {
			_, _ = w.Write([]byte(piece))
			_ = http.NewResponseController(w).Flush()
			<-seen
		}
	})
	r, _ := http.NewRequest(http.MethodPost, h.url+"/v1/chat/completions", strings.NewReader(hi))
	r.Header.Set("Authorization", "Bearer "+secret)
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	seen <- struct{}{}
	blank := make([]byte, 1)
	if _, err := io.ReadFull(resp.Body, blank); err != nil || string(blank) != "\n" {
		t.Fatalf("%q, %v", blank, err)
	}
	seen <- struct{}{}
	whole := make([]byte, len(plainAnswer(8, 3))) // before the upstream says that it has ended
	if _, err := io.ReadFull(resp.Body, whole); err != nil || string(whole) != plainAnswer(8, 3) {
		t.Errorf("%q, %v", whole, err)
	}
	seen <- struct{}{}
}
