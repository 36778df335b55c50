package proxy_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
)

const (
	streamed  = `{"model":"gpt-4o-mini","stream":true,"messages":[{"role":"user","content":"Hi"}],"max_tokens":50}`
	reasoning = `{"model":"o4-mini","stream":true,"messages":[{"role":"user","content":"Hi"}],"max_completion_tokens":50}`
	reserved  = 8 + 50 // tokens, for each of these
	predicted = `{"model":"gpt-4o-mini","stream":true,"messages":[{"role":"user","content":"Hi"}],"max_tokens":50,"prediction":{"type":"content","content":"one two"}}`
)

// chunks writes a stream: "a b c" is three pieces of text; then usage, if any; then the end, unless it is cut.
func chunks(text, usage string, cut bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for piece := range strings.FieldsSeq(text) {
			fmt.Fprintf(w, `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" %s"},"finish_reason":null}]}`+"\n\n", piece)
		}
		if usage != "" {
			fmt.Fprintf(w, `data: {"id":"c","object":"chat.completion.chunk","choices":[],"usage":%s}`+"\n\n", usage)
		}
		w.(http.Flusher).Flush()
		if cut {
			panic(http.ErrAbortHandler)
		}
		io.WriteString(w, "data: [DONE]\n\n")
	}
}

// early writes a usage before anything else, as providers do that report as they go.
func early(usage string, then http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, `data: {"id":"c","object":"chat.completion.chunk","choices":[],"usage":%s}`+"\n\n", usage)
		then(w, r)
	}
}

// picture is a member of a message that holds one that was made.
const picture = `"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]`

// drawn writes a picture before anything else.
func drawn(then http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{`+picture+`},"finish_reason":null}]}`+"\n\n")
		then(w, r)
	}
}

func usage(prompt, completion, total int) string {
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, prompt, completion, total)
}

func hangUp(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }

// TestEndings walks the table of endings row by row: what was charged is what the table says.
func TestEndings(t *testing.T) {
	const three = "one two three" // three tokens
	for _, c := range []struct {
		name     string
		body     string
		upstream http.HandlerFunc
		charged  int64
		broken   bool // the client must see that its answer is not whole
	}{
		{"upstream error 400", hi, answerWith(400, `{"error":{"message":"no","type":"x","param":null,"code":null}}`), 0, false},
		{"upstream error 500", hi, answerWith(500, `oops`), 0, false},
		{"upstream refuses our key", hi, answerWith(401, `{"error":{"message":"bad key sk-upstream-secret"}}`), 0, false},
		{"redirect", hi, answerWith(302, ``), 0, false},
		{"no status", hi, hangUp, reserved, false},
		{"plain, reported", hi, answerWith(200, plainAnswer(9, 4)), 13, false},
		{"plain, not reported", hi, answerWith(200, `{"choices":[{"index":0,"message":{"role":"assistant","content":" one two three"}}]}`), 8 + 3, false},
		{"plain, not JSON", hi, answerWith(200, `<html>`), reserved, false},
		{"streamed, reported", streamed, chunks(three, usage(9, 4, 13), false), 13, false},
		{"streamed, thinking left out of completion_tokens", streamed, chunks(three, usage(9, 4, 33), false), 33, false},
		{"streamed, not reported", streamed, chunks(three, "", false), 8 + 3, false},
		{"cut stream", streamed, chunks(three, "", true), 8 + 3, true},
		{"cut stream after its usage", streamed, chunks(three, usage(9, 4, 13), true), 13, true},
		{"cut stream that went on after its usage", streamed, early(usage(9, 1, 10), chunks(three, "", true)), 9 + 3, true},
		{"text that goes on after its usage", streamed, early(usage(9, 1, 10), chunks(three, "", false)), 9 + 3, false},
		{"text that goes on after more usage than that", streamed, early(usage(9, 20, 29), chunks(three, "", false)), 9 + 20, false},
		{"usage before and behind the text", streamed, early(usage(9, 1, 10), chunks(three, usage(9, 2, 11), false)), 9 + 2, false},
		{"a picture, not reported", streamed, drawn(chunks(three, "", false)), reserved, false},
		{"a picture, reported", streamed, drawn(chunks(three, usage(9, 4, 13), false)), 13, false},
		{"a picture, and the stream is cut", streamed, drawn(chunks(three, "", true)), reserved, true},
		{"a plain picture, not reported", hi, answerWith(200, `{"choices":[{"index":0,"message":{"role":"assistant","content":"one",`+picture+`}}]}`), reserved, false},
		{"cut stream of a reasoning model", reasoning, chunks(three, "", true), reserved, true},
		{"reported zero", streamed, chunks(three, usage(0, 0, 0), false), reserved, false},
		{"reported negative", streamed, chunks(three, usage(9, -4, 5), false), reserved, false},
		{"reported absurd", streamed, chunks(three, usage(9, 1<<40, 1<<41), false), reserved, false},
		{"reported absurd, and more was seen than reserved", streamed, chunks(strings.Repeat("one ", 70), usage(9, 1<<40, 1<<41), false), 8 + 70, false},
		{"a prediction that may not have come true", predicted, chunks(three, "", true), 8 + 2 + 3 + 2, true},
		{"a prediction, reported", predicted, chunks(three, usage(9, 4, 13), false), 13, false},
		{"more is made than is returned", `{"model":"gpt-3.5-turbo-instruct","prompt":"Hi","max_tokens":50,"best_of":3}`, answerWith(200, `{"choices":[{"index":0,"text":" one two three"}]}`), 1 + 3*50, false},
		{"as much is returned as is made", `{"model":"gpt-3.5-turbo-instruct","prompt":"Hi","max_tokens":50,"best_of":3,"n":3}`, answerWith(200, `{"choices":[{"index":0,"text":" one two three"}]}`), 1 + 3, false},
		{"more than was reserved is debt", streamed, chunks(three, usage(9, 91, 100), false), 100, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, alice(t, "1000 tokens in total"), c.upstream)
			path := "/v1/chat/completions"
			if strings.Contains(c.body, `"prompt"`) {
				path = "/v1/completions"
			}
			got := h.postForm(path, "application/json", c.body)
			if broken := got.err != nil; broken != c.broken {
				t.Errorf("transfer broken: %v (%v), want %v", broken, got.err, c.broken)
			}
			if used := h.settledSoon("1000 tokens in total", c.charged); used != c.charged {
				t.Errorf("charged %d tokens, want %d", used, c.charged)
			}
			if strings.Contains(got.body, "sk-upstream-secret") {
				t.Errorf("the upstream's key reached the client: %s", got.body)
			}
		})
	}
}

// settledSoon reads what was used once no reservation is open; a broken transfer reaches the client before the books are closed.
func (h *house) settledSoon(sentence string, want int64) int64 {
	h.t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for h.limiter.OpenCount() > 0 || h.used(sentence) != want {
		if time.Now().After(deadline) {
			break
		}
		<-time.After(time.Millisecond)
	}
	return h.used(sentence)
}

func TestAnUnreachableUpstreamCostsNothing(t *testing.T) {
	spec := alice(t, "1000 tokens in total")
	h := newHouse(t, spec, answerWith(200, plainAnswer(1, 1)))
	catalogPolicy(t, h, "http://127.0.0.1:1/v1", spec)
	got := h.chat(hi)
	if _, _, _, code := got.errorOf(t); got.status != 502 || code != "upstream_unreachable" || strings.Contains(got.body, "127.0.0.1") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if used := h.used("1000 tokens in total"); used != 0 {
		t.Errorf("charged %d tokens", used)
	}
}

func TestAClientThatLeavesCancelsTheUpstream(t *testing.T) {
	for _, c := range []struct {
		name, body string
		charged    int64
	}{
		{"in the middle of a stream", streamed, 8 + 3},
		{"in the middle of a stream of a reasoning model", reasoning, reserved},
	} {
		t.Run(c.name, func(t *testing.T) {
			gone := make(chan struct{})
			h := newHouse(t, alice(t, "1000 tokens in total"), func(w http.ResponseWriter, r *http.Request) {
				chunksThenHold(w, r, "one two three")
				close(gone)
			})
			ctx, leave := context.WithCancel(t.Context())
			r, _ := http.NewRequestWithContext(ctx, http.MethodPost, h.url+"/v1/chat/completions", strings.NewReader(c.body))
			r.Header.Set("Authorization", "Bearer "+secret)
			resp, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			readUntil(t, resp.Body, "three")
			leave()
			<-gone
			if used := h.settledSoon("1000 tokens in total", c.charged); used != c.charged {
				t.Errorf("charged %d tokens, want %d", used, c.charged)
			}
		})
	}
}

func chunksThenHold(w http.ResponseWriter, r *http.Request, text string) {
	func() {
		defer func() { recover() }() // chunks hangs up; this one stays
		chunks(text, "", true)(w, r)
	}()
	<-r.Context().Done()
}

func readUntil(t *testing.T, r io.Reader, want string) {
	t.Helper()
	var seen strings.Builder
	buffer := make([]byte, 1024)
	for !strings.Contains(seen.String(), want) {
		n, err := r.Read(buffer)
		seen.Write(buffer[:n])
		if err != nil {
			t.Fatalf("before %q: %v", want, err)
		}
	}
}

func TestASilentUpstreamIsEnded(t *testing.T) {
	var log bytes.Buffer
	h := newHouse(t, alice(t, "1000 tokens in total"), func(w http.ResponseWriter, r *http.Request) { chunksThenHold(w, r, "one two three") },
		func(o *proxy.Options) {
			o.IdleTimeout, o.Log = 300*time.Millisecond, slog.New(slog.NewJSONHandler(&log, nil))
		})
	if got := h.chat(streamed); got.err == nil {
		t.Errorf("the client saw a whole answer: %d %s", got.status, got.body)
	}
	if used := h.settledSoon("1000 tokens in total", 8+3); used != 11 {
		t.Errorf("charged %d tokens, want 11", used)
	}
	if err := h.server.Wait(t.Context()); err != nil || !strings.Contains(log.String(), "idle timeout") {
		t.Errorf("the log does not name the cause: %s", log.String())
	}
}
