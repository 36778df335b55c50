package simulated_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cmd/tokenfare/simulated"
)

// words counts words and makes every sum checkable by eye.
func words(_, text string) int64 { return int64(len(strings.Fields(text))) }

// instant is an upstream that never waits.
func instant() http.Handler {
	return simulated.New(simulated.Options{Count: words, Pace: -1, ThinkTime: -1})
}

func ask(h http.Handler, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer anything at all")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func chat(h http.Handler, body string) *httptest.ResponseRecorder {
	return ask(h, "POST", "/v1/chat/completions", body)
}

type whole struct {
	ID, Object, Model string
	Created           int64
	Choices           []struct {
		Index   int
		Message struct{ Role, Content string }
		Finish  string `json:"finish_reason"`
	}
	Usage struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Total      int64 `json:"total_tokens"`
	}
}

func decode[T any](t *testing.T, data string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(data), &v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return v
}

// timedWriter is a client that notes when each event arrives and may hang up after some of them.
type timedWriter struct {
	*httptest.ResponseRecorder
	began  time.Time
	at     []time.Duration
	hangUp func(events int)
}

func (w *timedWriter) Flush() {
	w.at = append(w.at, time.Since(w.began))
	if w.hangUp != nil {
		w.hangUp(len(w.at))
	}
}

func newTimedWriter() *timedWriter {
	return &timedWriter{ResponseRecorder: httptest.NewRecorder(), began: time.Now()}
}

func chatRequest(ctx context.Context, body string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, "POST", "/v1/chat/completions", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer k")
	return r
}

const streamed = `{"model":"gpt-5-mini","stream":true,"messages":[{"role":"user","content":"Tell me a long story"}]}`

func TestAStreamThinksFirstAndThenKeepsItsPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := simulated.New(simulated.Options{})
		w := newTimedWriter()
		h.ServeHTTP(w, chatRequest(t.Context(), streamed))

		if len(w.at) < 200 {
			t.Fatalf("a long story came in %d events, want at least 200", len(w.at))
		}
		if w.at[0] != 250*time.Millisecond {
			t.Errorf("first event after %v, want the default think time of 250ms", w.at[0])
		}
		pieces := w.at[:len(w.at)-2] // the finish reason and [DONE] follow the last piece at once
		for i := 1; i < len(pieces); i++ {
			if gap := pieces[i] - pieces[i-1]; gap < 10*time.Millisecond || gap > 30*time.Millisecond {
				t.Fatalf("event %d came %v after the one before, want 20ms give or take half", i, gap)
			}
		}
		mean := (pieces[len(pieces)-1] - pieces[0]) / time.Duration(len(pieces)-1)
		if mean < 18*time.Millisecond || mean > 22*time.Millisecond {
			t.Errorf("mean pace %v, want about 20ms", mean)
		}
	})
}

func TestAWholeAnswerTakesAsLongAsAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := simulated.New(simulated.Options{Pace: 20 * time.Millisecond, ThinkTime: time.Second})
		const body = `{"model":"gpt-5-mini","messages":[{"role":"user","content":"hi"}]`
		took := func(body string) time.Duration {
			began := time.Now()
			h.ServeHTTP(newTimedWriter(), chatRequest(t.Context(), body))
			return time.Since(began)
		}
		plain, stream := took(body+`}`), took(body+`,"stream":true}`)
		if plain != stream || plain < time.Second+200*time.Millisecond {
			t.Errorf("whole took %v, streamed %v; want the same, more than the think time", plain, stream)
		}
	})
}

func TestItStopsTheMomentTheClientIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := simulated.New(simulated.Options{Count: words})
		ctx, cancel := context.WithCancel(t.Context())
		w := newTimedWriter()
		w.hangUp = func(events int) {
			if events == 5 {
				cancel()
			}
		}
		h.ServeHTTP(w, chatRequest(ctx, streamed))
		if len(w.at) != 5 {
			t.Errorf("%d events were sent, want none after the fifth", len(w.at))
		}
		if late := time.Since(w.began) - w.at[4]; late != 0 {
			t.Errorf("returned %v after the client had gone", late)
		}
	})
}

func TestItStopsThinkingWhenTheClientIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := simulated.New(simulated.Options{ThinkTime: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		w := newTimedWriter()
		h.ServeHTTP(w, chatRequest(ctx, streamed))
		if took := time.Since(w.began); took != time.Second || w.Body.Len() > 0 {
			t.Errorf("returned after %v with %d bytes, want 1s and nothing", took, w.Body.Len())
		}
	})
}

func TestUsageFollowsTheChatFormula(t *testing.T) {
	w := chat(instant(), `{"model":"gpt-5-mini","messages":[
		{"role":"system","content":"be nice"},
		{"role":"user","name":"ann lee","content":[{"type":"text","text":"one two"},{"type":"image_url","image_url":{"url":"x"}},{"type":"text","text":"three"}]},
		{"role":"assistant","content":null}]}`)
	got := decode[whole](t, w.Body.String())
	// 3 to prime; system 3+1+2; user 3+1+3 and 1+2 for the name; assistant 3+1.
	if want := int64(3 + 6 + 7 + 3 + 4); got.Usage.Prompt != want {
		t.Errorf("prompt_tokens = %d, want %d", got.Usage.Prompt, want)
	}
	if want := words("", got.Choices[0].Message.Content); got.Usage.Completion != want {
		t.Errorf("completion_tokens = %d, want the text's own count %d", got.Usage.Completion, want)
	}
	if got.Usage.Total != got.Usage.Prompt+got.Usage.Completion {
		t.Errorf("total_tokens = %d is not the sum", got.Usage.Total)
	}
}

func TestAnOutputLimitEndsTheAnswerWithLength(t *testing.T) {
	for _, limits := range []string{`"max_tokens":7`, `"max_completion_tokens":7`, `"max_tokens":900,"max_completion_tokens":7`} {
		got := decode[whole](t, chat(instant(), `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}],`+limits+`}`).Body.String())
		c := got.Choices[0]
		if c.Finish != "length" || got.Usage.Completion != 7 || len(strings.Fields(c.Message.Content)) != 7 {
			t.Errorf("%s: finish %q after %d tokens: %q", limits, c.Finish, got.Usage.Completion, c.Message.Content)
		}
	}
	got := decode[whole](t, chat(instant(), `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}`).Body.String())
	if got.Choices[0].Finish != "stop" {
		t.Errorf("finish %q without a limit, want stop", got.Choices[0].Finish)
	}
}

func TestALimitMayFallWithinAWord(t *testing.T) {
	letters := func(_, text string) int64 { return int64(len(text)) }
	h := simulated.New(simulated.Options{Count: letters, Pace: -1, ThinkTime: -1})
	for limit := range int64(30) {
		body, _ := json.Marshal(map[string]any{
			"model": "gpt-4o", "max_tokens": limit + 1,
			"messages": []map[string]string{{"role": "user", "content": "hi"}},
		})
		got := decode[whole](t, chat(h, string(body)).Body.String())
		if got.Usage.Completion != limit+1 || int64(len(got.Choices[0].Message.Content)) != limit+1 {
			t.Errorf("limit %d: %d tokens, text %q", limit+1, got.Usage.Completion, got.Choices[0].Message.Content)
		}
	}
}

func TestTheSamePromptGetsTheSameAnswer(t *testing.T) {
	text := func(content string) string {
		return decode[whole](t, chat(instant(), `{"model":"gpt-4o","messages":[{"role":"user","content":"`+content+`"}]}`).Body.String()).Choices[0].Message.Content
	}
	if a, b := text("What is a sliding window?"), text("What is a sliding window?"); a != b {
		t.Errorf("two answers to one prompt:\n%s\n%s", a, b)
	}
	if a, b := text("What is a sliding window?"), text("What is a bucket?"); a == b {
		t.Errorf("one answer to two prompts: %s", a)
	}
}

func TestAnswersRespondToTheLastUserMessage(t *testing.T) {
	content := func(question string) string {
		return decode[whole](t, chat(instant(), `{"model":"gpt-4o","messages":[{"role":"user","content":"zebra"},{"role":"user","content":"`+question+`"},{"role":"assistant","content":"giraffe"}]}`).Body.String()).Choices[0].Message.Content
	}
	usual := content("What is a leaky harbour in Lisbon?")
	if !strings.Contains(usual, "harbour") && !strings.Contains(usual, "Lisbon") || !strings.Contains(usual, "7 words") {
		t.Errorf("the answer does not mention what was asked: %q", usual)
	}
	long, brief := content("a long tale"), content("a tale, briefly")
	if len(long) <= 2*len(usual) || len(usual) <= len(brief) {
		t.Errorf("lengths long %d, usual %d, brief %d: want them in that order", len(long), len(usual), len(brief))
	}
	for _, odd := range []string{"", "   ", "?!?", "\\ud83d", "\\u0000", "日本語のテキストです"} {
		if content(odd) == "" {
			t.Errorf("no answer to %q", odd)
		}
	}
}

func TestEveryChoiceIsItsOwnAnswer(t *testing.T) {
	got := decode[whole](t, chat(instant(), `{"model":"gpt-4o","n":3,"messages":[{"role":"user","content":"hi"}]}`).Body.String())
	var sum int64
	seen := map[string]bool{}
	for i, c := range got.Choices {
		if c.Index != i {
			t.Errorf("choice %d has index %d", i, c.Index)
		}
		seen[c.Message.Content] = true
		sum += words("", c.Message.Content)
	}
	if len(seen) != 3 || got.Usage.Completion != sum {
		t.Errorf("%d different answers of 3; completion_tokens %d, want %d", len(seen), got.Usage.Completion, sum)
	}
}

func TestMistakesAreAnsweredInOpenAIsShape(t *testing.T) {
	type apiError struct{ Message, Type, Param, Code any }
	const ok = `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]`
	for _, tc := range []struct {
		name, method, path, body string
		status                   int
		param, code              any
	}{
		{"unknown path", "POST", "/v1/embeddings", "{}", 404, nil, nil},
		{"wrong method", "GET", "/v1/chat/completions", "", 404, nil, nil},
		{"unknown model", "POST", "/v1/chat/completions", `{"model":"x","messages":[{}]}`, 404, nil, "model_not_found"},
		{"no model", "POST", "/v1/chat/completions", `{}`, 400, nil, nil},
		{"not JSON", "POST", "/v1/chat/completions", `{"model":`, 400, nil, nil},
		{"wrong type", "POST", "/v1/chat/completions", `{"model":7}`, 400, nil, nil},
		{"content of a wrong type", "POST", "/v1/chat/completions", `{"model":"gpt-4o","messages":[{"content":[7]}]}`, 400, nil, nil},
		{"no messages", "POST", "/v1/chat/completions", `{"model":"gpt-4o"}`, 400, "messages", "missing_required_parameter"},
		{"no output", "POST", "/v1/chat/completions", ok + `,"max_tokens":0}`, 400, "max_tokens", "integer_below_min_value"},
		{"too many choices", "POST", "/v1/chat/completions", ok + `,"n":129}`, 400, "n", "invalid_value"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := ask(instant(), tc.method, tc.path, tc.body)
			got := decode[map[string]map[string]any](t, w.Body.String())["error"]
			want := map[string]any{"message": got["message"], "type": "invalid_request_error", "param": tc.param, "code": tc.code}
			if diff := cmp.Diff(want, got); diff != "" || w.Code != tc.status || got["message"] == "" {
				t.Errorf("status %d, want %d; error differs (-want +got):\n%s", w.Code, tc.status, diff)
			}
		})
	}
	for _, header := range []string{"", "Bearer ", "Basic abc"} {
		r := httptest.NewRequest("GET", "/v1/models", nil)
		r.Header.Set("Authorization", header)
		w := httptest.NewRecorder()
		instant().ServeHTTP(w, r)
		if got := decode[map[string]apiError](t, w.Body.String())["error"]; w.Code != 401 || got.Type != "invalid_request_error" {
			t.Errorf("Authorization %q: %d %v, want OpenAI's 401", header, w.Code, got)
		}
	}
}

func FuzzChat(f *testing.F) {
	f.Add(streamed)
	f.Add(`{"model":"gpt-4o","n":2,"max_tokens":3,"messages":[{"role":"user","content":[{"text":"x"}]}],"tools":[{}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		if w := chat(instant(), body); w.Code != 200 && w.Code != 400 && w.Code != 404 {
			t.Errorf("status %d", w.Code)
		}
	})
}
