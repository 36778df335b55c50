package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
)

func TestUsageIsAskedForAndWithheld(t *testing.T) {
	const asked = `{"model":"gpt-4o-mini","stream":true,"max_tokens":50,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"Hi"}]}`
	for _, c := range []struct {
		name, never, body string
		sent, chunk       bool
	}{
		{"not asked for by the caller", "", streamed, true, false},
		{"asked for by the caller", "", asked, true, true},
		{"an upstream that knows no stream_options", "never", streamed, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := alice(t, "1000 tokens in total")
			spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", Usage: c.never}}
			var whole strings.Builder
			h := newHouse(t, spec, func(w http.ResponseWriter, r *http.Request) {
				rec := newRecorder()
				chunks("one two three", usage(9, 4, 13), false)(flusher{rec}, r)
				whole.Reset()
				whole.WriteString(rec.body.String())
				w.Header().Set("Content-Type", "text/event-stream")
				w.Header().Set("Content-Length", fmt.Sprint(whole.Len())) // unusual, and a trap when something is withheld
				io.WriteString(w, whole.String())
			})
			got := h.chat(c.body)
			if got.err != nil || got.status != 200 {
				t.Fatalf("%d, %v", got.status, got.err)
			}
			if options, ok := h.sent()["stream_options"].(map[string]any); ok != c.sent || ok && options["include_usage"] != true {
				t.Errorf("the upstream was sent stream_options %v", options)
			}
			if has := strings.Contains(got.body, `"usage":{`); has != c.chunk {
				t.Errorf("usage chunk for the caller: %v, want %v", has, c.chunk)
			}
			if c.chunk && got.body != whole.String() {
				t.Errorf("bytes were changed:\n%s\n%s", got.body, whole.String())
			}
			if length := got.header.Get("Content-Length"); length != fmt.Sprint(len(got.body)) { // the answer has come in one piece
				t.Errorf("Content-Length %s of %d bytes", length, len(got.body))
			}
			if used := h.settledSoon("1000 tokens in total", 13); used != 13 {
				t.Errorf("charged %d, want 13", used)
			}
		})
	}
}

type flusher struct{ *recorder }

func (flusher) Flush() {}

func TestOnlyListedHeadersTravel(t *testing.T) {
	h := newHouse(t, alice(t, "1000 tokens in total"), func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{
			"Set-Cookie", "Openai-Organization", "X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Requests", "Openai-Project", "Server", "Location",
			"X-Request-Id", "Openai-Processing-Ms", "Openai-Version",
		} {
			w.Header().Set(name, "upstream's")
		}
		answerWith(200, plainAnswer(8, 3))(w, r)
	})
	got := h.chat(hi, "Cookie", "c=1", "Openai-Organization", "org-caller", "Openai-Project", "p", "Idempotency-Key", "k", "X-Forwarded-For", "1.2.3.4",
		"Forwarded", "for=1.2.3.4", "Api-Key", "k", "Connection", "Authorization, Upgrade", "Upgrade", "websocket", "X-Stainless-Lang", "js",
		"Traceparent", "00-1", "Accept", "application/json", "Content-Type", "text/plain", "Proxy-Authorization", "x", "Accept-Encoding", "br")
	r := <-h.asked
	names := slices.Sorted(maps.Keys(r.Header))
	want := []string{"Accept", "Accept-Encoding", "Authorization", "Content-Length", "Content-Type", "Traceparent", "User-Agent"}
	if !slices.Equal(names, want) {
		t.Errorf("the upstream got headers %v, want %v", names, want)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer sk-upstream-secret", "Content-Type": "application/json", "Accept-Encoding": "identity", "Traceparent": "00-1", "User-Agent": "tokenfare", "Accept": "*/*",
	} {
		if r.Header.Get(name) != value {
			t.Errorf("%s: %q, want %q", name, r.Header.Get(name), value)
		}
	}
	for name, values := range got.header {
		if values[0] == "upstream's" && !slices.Contains([]string{"X-Request-Id", "Openai-Processing-Ms", "Openai-Version"}, name) {
			t.Errorf("the caller got the upstream's %s", name)
		}
	}
	if got.header.Get("X-Request-Id") != "upstream's" || got.header.Get("x-ratelimit-limit-tokens") != "1000" {
		t.Errorf("headers %v", got.header)
	}
}

func TestErrorsOfTheUpstream(t *testing.T) {
	for _, c := range []struct {
		name    string
		status  int
		body    string
		want    int
		code    string
		says    string
		noRetry bool
	}{
		{"a bad request", 400, `{"error":{"message":"no such thing","type":"x","param":null,"code":"y"}}`, 400, "y", "no such thing", false},
		{"its own limit", 429, `{"error":{"message":"slow down","type":"x","param":null,"code":"rate"}}`, 429, "rate", "slow down", false},
		{"its key quoted", 500, `{"error":{"message":"key sk-upstream-secret broke","type":"x","param":null,"code":null}}`, 500, "", "key [key] broke", false},
		{"a message alone", 400, `{"error":{"message":"only"}}`, 400, "", "only", false},
		{"HTML", 502, `<html>nginx sk-upstream-secret</html>`, 502, "upstream_failed", "answered 502 Bad Gateway", false},
		{"nothing", 503, ``, 503, "upstream_failed", "answered 503 Service Unavailable", false},
		{
			"HTML of its own", 413, "<html>\r\n<head><title>413 Too Large</title><style>h1 { color: red }</style></head><body><h1>Ask for &lt; 1 MB, sk&#45;upstream-secret</h1></body></html>", 413,
			"upstream_failed", "answered 413 Request Entity Too Large: 413 Too Large Ask for < 1 MB, [key]", false,
		},
		{"a text", 400, "no such deployment of sk-upstream-secret\n", 400, "upstream_failed", "answered 400 Bad Request: no such deployment of [key]", false},
		{"a text, of its own limit", 429, "slow down, org-abcdefghij", 429, "upstream_failed", "answered 429 Too Many Requests: slow down, org-", false},
		{"nothing of its own", 404, ``, 404, "upstream_failed", "answered 404 Not Found, without saying why.", false},
		{"another shape", 400, `{"error":"sk-upstream-secret cannot do this"}`, 400, "upstream_failed", "[key] cannot do this", false},
		{"its key escaped", 500, `{"error":{"message":"key sk\u002dupstream\u002Dsecret \"broke\"","type":"x","param":null,"code":null}}`, 500, "", `key [key] "broke"`, false},
		{"its key escaped, of its own limit", 429, `{"error":{"message":"sk\u002dupstream-secret: slow down","type":"x","param":null,"code":"rate"}}`, 429, "rate", "[key]: slow down", false},
		{"its key escaped, in another shape", 400, `{"detail":"sk\u002dupstream-secret cannot do this"}`, 400, "upstream_failed", "[key] cannot do this", false},
		{"our key refused", 401, `{"error":{"message":"Incorrect API key provided: sk-upstream-secret"}}`, 502, "upstream_unauthorized", "not the fault of your key", true},
		{"our key forbidden", 403, `{}`, 502, "upstream_unauthorized", "not the fault of your key", true},
		{"a redirect", 302, ``, 502, "upstream_redirected", "not followed", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, alice(t, "1000 tokens in total"), func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", "17")
				w.Header().Set("Location", "http://elsewhere")
				answerWith(c.status, c.body)(w, r)
			})
			got := h.chat(hi)
			message, kind, _, code := got.errorOf(t)
			if fits := map[bool]string{true: "invalid_request_error", false: "server_error"}[c.want < 500]; kind != fits && kind != "x" {
				t.Errorf("it is of type %s, want %s", kind, fits)
			}
			if got.status != c.want || code != c.code || !strings.Contains(message, c.says) || strings.Contains(got.body+message, "sk-upstream") {
				t.Errorf("%d %s: %s", got.status, code, message)
			}
			if c.want == c.status && got.header.Get("Retry-After") != "17" {
				t.Errorf("Retry-After %q", got.header.Get("Retry-After"))
			}
			if has := got.header.Get("x-should-retry") == "false"; has != c.noRetry {
				t.Errorf("x-should-retry: false is there: %v, want %v", has, c.noRetry)
			}
			if got.header.Get("Location") != "" {
				t.Error("Location came back")
			}
			if used := h.used("1000 tokens in total"); used != 0 {
				t.Errorf("charged %d", used)
			}
		})
	}
}

// TestHintsAndTrailersDoNotTravel: headers that come before or after the answer are no way around the list.
func TestHintsAndTrailersDoNotTravel(t *testing.T) {
	h := newHouse(t, alice(t, "1000 tokens in total"), func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Openai-Organization", "org-leak")
		w.Header().Set("Set-Cookie", "leak=1")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Trailer", "Openai-Organization")
		chunks("one two three", usage(9, 4, 13), false)(w, r)
		w.Header().Set(http.TrailerPrefix+"X-Leak", "1")
	})
	r, _ := http.NewRequest(http.MethodPost, h.url+"/v1/chat/completions", strings.NewReader(streamed))
	r.Header.Set("Authorization", "Bearer "+secret)
	r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
			t.Errorf("the client got %d with %v", code, header)
			return nil
		},
	}))
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	if resp.Header.Get("Openai-Organization")+resp.Header.Get("Set-Cookie") != "" || len(resp.Trailer) > 0 {
		t.Errorf("headers %v, trailers %v", resp.Header, resp.Trailer)
	}
	if resp.Header.Get("x-tokenfare-budget") == "" {
		t.Error("our own headers are gone")
	}
}

func TestAnErrorThatStallsIsEnded(t *testing.T) {
	h := newHouse(t, alice(t, "1000 tokens in total"), func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(500)
		io.WriteString(w, `{"error":`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}, func(o *proxy.Options) { o.IdleTimeout = 300 * time.Millisecond })
	if got := h.chat(hi); got.status != 502 && got.status != 504 {
		t.Errorf("%d %s %v", got.status, got.body, got.err)
	}
	if used := h.used("1000 tokens in total"); used != 0 {
		t.Errorf("charged %d", used)
	}
}

// TestAnAnswerInAnotherCodingIsChargedWhole: it was asked to be plain; what cannot be read cannot be counted.
func TestAnAnswerInAnotherCodingIsChargedWhole(t *testing.T) {
	for _, body := range []string{hi, streamed} {
		h := newHouse(t, alice(t, "1000 tokens in total"), func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "\x0b\x04\x80data: {}\n\n\x03")
		})
		if got := h.chat(body, "Accept-Encoding", "br"); got.status != 200 || got.header.Get("Content-Encoding") != "br" {
			t.Errorf("%d %v", got.status, got.header)
		}
		if used := h.settledSoon("1000 tokens in total", reserved); used != reserved {
			t.Errorf("charged %d, want all %d reserved", used, reserved)
		}
	}
}

func TestRequestIDs(t *testing.T) {
	for _, upstreams := range []string{"", "req_upstream"} {
		var log bytes.Buffer
		h := newHouse(t, alice(t), func(w http.ResponseWriter, r *http.Request) {
			if upstreams != "" {
				w.Header().Set("X-Request-Id", upstreams)
			}
			answerWith(200, plainAnswer(8, 3))(w, r)
		}, func(o *proxy.Options) { o.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
		id := h.chat(hi).header.Get("X-Request-Id")
		if err := h.server.Wait(t.Context()); err != nil || id == "" || upstreams != "" && id != upstreams || !strings.Contains(log.String(), `"`+id+`"`) {
			t.Errorf("the client got id %q; the log: %s", id, log.String())
		}
	}
}

func TestAKeylessUpstreamGetsNoKey(t *testing.T) {
	spec := alice(t, "1000 tokens in total")
	spec.Upstreams = []proxy.UpstreamSpec{{Name: "up"}}
	h := newHouse(t, spec, answerWith(200, plainAnswer(8, 3)))
	h.chat(hi)
	if v, there := (<-h.asked).Header["Authorization"]; there {
		t.Errorf("the upstream got Authorization %q", v)
	}
}

// TestOurKeyInAHeaderDoesNotComeBack: also when what takes its place in texts happens to be as long.
func TestOurKeyInAHeaderDoesNotComeBack(t *testing.T) {
	for _, key := range []string{"sk-upstream-secret", "12345"} {
		spec := alice(t)
		spec.Upstreams = []proxy.UpstreamSpec{{Name: "up", Key: key}}
		h := newHouse(t, spec, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Openai-Version", "for "+key)
			answerWith(200, plainAnswer(8, 3))(w, r)
		})
		if got := h.chat(hi); got.status != 200 || got.header.Get("Openai-Version") != "" {
			t.Errorf("%d, Openai-Version %q", got.status, got.header.Get("Openai-Version"))
		}
	}
}

// TestAStreamThatIsNoneIsChargedWhole: text that is not framed as a stream cannot be told from its frame, so it is not free.
func TestAStreamThatIsNoneIsChargedWhole(t *testing.T) {
	h := newHouse(t, alice(t, "1000 tokens in total"), func(w http.ResponseWriter, r *http.Request) {
		rec := newRecorder()
		chunks(strings.Repeat("word ", 30), "", false)(flusher{rec}, r)
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, rec.body.String())
	})
	h.chat(streamed)
	if used := h.settledSoon("1000 tokens in total", reserved); used != reserved {
		t.Errorf("charged %d, want all %d reserved", used, reserved)
	}
}

// TestAHalfClosedClientGetsNoEmptyAnswer: a client that closed its own side only must not take an abandoned call for a success.
func TestAHalfClosedClientGetsNoEmptyAnswer(t *testing.T) {
	h := newHouse(t, alice(t, "1000 tokens in total"), func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	c, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", secret, len(hi), hi)
	<-h.asked
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if all, _ := io.ReadAll(c); strings.Contains(string(all), "200 OK") {
		t.Errorf("the client got %q", all)
	}
}
