package test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	openaigo "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	goopenai "github.com/sashabaranov/go-openai"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// Of a budget of 2,000 tokens a stream without a limit gets what its prompt leaves.
const smallBudget = "2000 tokens in total"

// TestGoOpenAIStreamEndedByTheBudget: an answer cut at its limit, as far as the client can tell.
func TestGoOpenAIStreamEndedByTheBudget(t *testing.T) {
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Text: words(20_000)})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{smallBudget}})

	request := goOpenAIRequest()
	request.MaxCompletionTokens = 0
	request.StreamOptions = &goopenai.StreamOptions{IncludeUsage: true}
	stream, err := goOpenAI(p, harness.Alice).CreateChatCompletionStream(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var text strings.Builder
	var reason goopenai.FinishReason
	var usage *goopenai.Usage
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if chunk.Usage != nil {
			usage = chunk.Usage
		}
		if len(chunk.Choices) > 0 {
			text.WriteString(chunk.Choices[0].Delta.Content)
			if said := chunk.Choices[0].FinishReason; said != "" {
				reason = said
			}
		}
	}
	call := up.Last(t)
	n := 2000 - int(call.Prompt)
	if text.String() != strings.Join(words(n), "") || reason != goopenai.FinishReasonLength {
		t.Errorf("%d bytes of text, finish_reason %q", text.Len(), reason)
	}
	if usage == nil || usage.PromptTokens != int(call.Prompt) || usage.CompletionTokens != n || usage.TotalTokens != 2000 {
		t.Errorf("usage %+v", usage)
	}
	if left := p.Remaining(t, "alice"); left != 0 {
		t.Errorf("%d tokens left", left)
	}
	call.WantCancelled(t, time.Now(), promptly())
	p.WantIdle(t)
}

// TestOpenAIGoStreamEndedByTheBudget: its accumulator takes the answer for a whole one, too.
func TestOpenAIGoStreamEndedByTheBudget(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Text: words(20_000)})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{smallBudget}})

	params := openaiGoParams()
	params.MaxCompletionTokens = openaigo.ChatCompletionNewParams{}.MaxCompletionTokens
	stream := newOpenAIGo(p, harness.Alice).Chat.Completions.NewStreaming(t.Context(), params)
	defer stream.Close()
	var whole openaigo.ChatCompletionAccumulator
	told := 0
	for stream.Next() {
		chunk := stream.Current()
		if !whole.AddChunk(chunk) {
			t.Fatalf("a chunk of another stream: %s", chunk.RawJSON())
		}
		if strings.Contains(chunk.RawJSON(), `"tokenfare":{"ended":"budget","budget":"key alice: `+smallBudget+`"}`) {
			told++
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	n := 2000 - int(up.Last(t).Prompt)
	if len(whole.Choices) != 1 || whole.Choices[0].FinishReason != "length" || whole.Choices[0].Message.Content != strings.Join(words(n), "") || told != 1 {
		t.Errorf("%d choices, told %d times; %+v", len(whole.Choices), told, whole.Choices)
	}
	refused := p.Chat(t, harness.Alice, ask()).WantError(t, http.StatusTooManyRequests)
	if refused.CodeText() != "insufficient_quota" {
		t.Errorf("the next call is refused as %q", refused.CodeText())
	}
}

// TestOpenAIGoResponseEndedByTheBudget: an incomplete response.
func TestOpenAIGoResponseEndedByTheBudget(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		w.Header().Set("Content-Type", "text/event-stream")
		const response = `{"id":"resp_1","object":"response","created_at":1763700000,"status":"in_progress","error":null,"incomplete_details":null,"instructions":null,"metadata":{},"model":"gpt-4o-mini","output":[],"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"usage":null}`
		fmt.Fprintf(w, "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":%s}\n\n", response)
		for i := 1; r.Context().Err() == nil; i++ {
			fmt.Fprintf(w, "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":%d,\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":\" red\"}\n\n", i)
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(up.Close)
	p := harness.Start(t, harness.Config{Upstream: up.URL + "/v1", Limits: []string{smallBudget}})

	client := newOpenAIGo(p, harness.Alice)
	stream := client.Responses.NewStreaming(t.Context(), responses.ResponseNewParams{
		Model: model, Input: responses.ResponseNewParamsInputUnion{OfString: openaigo.String(question)},
	})
	defer stream.Close()
	var deltas, sequence int64
	var last responses.ResponseStreamEventUnion
	for stream.Next() {
		last = stream.Current()
		if last.Type == "response.output_text.delta" {
			deltas++
		}
		if last.SequenceNumber < sequence {
			t.Errorf("sequence number %d after %d", last.SequenceNumber, sequence)
		}
		sequence = last.SequenceNumber
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	end := last.AsResponseIncomplete().Response
	if last.Type != "response.incomplete" || end.ID != "resp_1" || end.Status != "incomplete" || end.IncompleteDetails.Reason != "max_output_tokens" {
		t.Errorf("the last event: %s", last.RawJSON())
	}
	if end.Usage.OutputTokens != deltas || end.Usage.TotalTokens != 2000 || !strings.Contains(last.RawJSON(), `"tokenfare":{"ended":"budget"`) {
		t.Errorf("%d deltas, usage %+v", deltas, end.Usage)
	}
	select {
	case <-gone:
	case <-time.After(10 * time.Second):
		t.Error("the upstream's work was not cancelled")
	}
	p.WantIdle(t)
}

// TestNodeResponsesEndedByTheBudget: what a client holds in the end is what it was sent, be it text, reasoning or a function's arguments.
// TOKENFARE_TEST=all only: it needs npm's packages.
func TestNodeResponsesEndedByTheBudget(t *testing.T) {
	t.Parallel()
	if os.Getenv("TOKENFARE_TEST") != "all" {
		t.Log("not run: set TOKENFARE_TEST=all after npm ci in test/node, as test/all.sh does")
		return
	}
	long := strings.Join(words(1500), "")
	answers := map[string]fakeopenai.Answer{
		"text":      {Reasoning: words(20), Text: words(20_000)},
		"reasoning": {Reasoning: words(20_000)},
		"call":      {Reasoning: words(20), Tools: []fakeopenai.ToolCall{{ID: "call_1", Name: "jump", Arguments: `{"how":"` + long + long + `"}`}}},
	}
	for client, finish := range map[string]string{"openai:openai": "incomplete max_output_tokens", "openai:openai6": "incomplete max_output_tokens", "ai:openai": "length"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			do := nodeSDK(client)(t)
			for name, answer := range answers {
				t.Run(name, func(t *testing.T) {
					up := fakeopenai.New(t)
					up.Always(model, answer)
					p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{smallBudget}})
					seen := do(sdkAsk{Do: "responseEnd", Key: harness.Alice, BaseURL: p.URL + "/v1", Model: model, Prompt: question, Tools: name == "call"})
					if seen.Error != nil || seen.Finish != finish || len(seen.Texts) != 2 || seen.Texts[0] != seen.Text || seen.Texts[1] != seen.Reasoning {
						t.Fatalf("%+v", seen)
					}
					sent := map[string]string{"text": seen.Text, "reasoning": seen.Reasoning, "call": seen.Calls[0].Arguments}[name]
					if len(sent) < 5000 || seen.Reasoning == "" || seen.Usage < 1000 || seen.Usage > 2000 {
						t.Errorf("sent %d bytes, and %d of reasoning; usage %d", len(sent), len(seen.Reasoning), seen.Usage)
					}
					if name == "call" && (len(seen.Calls) != 2 || seen.Calls[1].Name != "jump" || seen.Calls[1].Arguments != sent) {
						t.Errorf("calls %.300v", seen.Calls)
					}
					if strings.HasPrefix(client, "ai:") && len(seen.Names) > 0 {
						t.Errorf("begun, and not ended: %v", seen.Names)
					}
					p.WantIdle(t)
				})
			}
		})
	}
}

// TestAStreamWaitsForItsBudget: 300 tokens a second are too few for it at once, and enough to end whole.
func TestAStreamWaitsForItsBudget(t *testing.T) {
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Text: words(2500)})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1000 tokens per second, burst 2000"}, More: "timeouts: { draw: 20s, idle: 300ms }\n"})
	began := time.Now()
	got := p.Chat(t, harness.Alice, ask(`"stream": true`)).WantOK(t)
	if n := strings.Count(string(got.Body), `"content":" `); n != 2500 || !strings.HasSuffix(string(got.Body), "data: [DONE]\n\n") || strings.Contains(string(got.Body), "tokenfare") {
		t.Errorf("%d of 2500 words; the end: %.300q", n, got.Body[max(0, len(got.Body)-300):])
	}
	if took := time.Since(began); took < 400*time.Millisecond {
		t.Errorf("it took %s, and its budget gives that much in half a second at the least", took)
	}
	metrics := p.Metrics(t)
	if n, ok := metrics.Sum("tokenfare_draws_total"); !ok || n < 1 {
		t.Errorf("%v draws counted", n)
	}
}

// TestADrawnStreamSurvivesAKill: what was drawn for what a client has received is charged after kill -9.
func TestADrawnStreamSurvivesAKill(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Text: words(9000), Pause: fakeopenai.Forever(), PauseAt: 7000})
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"20000 tokens in total"}})
	resp := p.Open(t.Context(), t, harness.Alice, ask(`"stream": true`))
	defer resp.Body.Close()
	seen, piece := 0, make([]byte, 64<<10)
	rest := ""
	for seen < 6900 {
		n, err := resp.Body.Read(piece)
		if err != nil {
			t.Fatal(err)
		}
		text := rest + string(piece[:n])
		end := strings.LastIndex(text, "\n\n") + 1
		seen += strings.Count(text[:end], `"content":" `)
		rest = text[end:]
	}
	p.Kill(t)
	p = p.Restart(t)
	prompt := up.Last(t).Prompt
	if left := p.Remaining(t, "alice"); left > 20_000-prompt-int64(seen) || left < 20_000-prompt-3*4096 {
		t.Errorf("%d tokens left of 20000, after %d were received and at most three steps drawn", left, seen)
	}
}

// TestParallelStreamsNeverReceiveMoreThanTheBudget: however many draw at once, what they get and what they asked is never worth
// more than it, and no less than nearly all of it.
func TestParallelStreamsNeverReceiveMoreThanTheBudget(t *testing.T) {
	streams, most := 100, int64(60_000)
	if harness.Race { // slower
		streams, most = 50, 30_000
	}
	for _, limit := range []string{"%d tokens in total", "%d tokens each month", "%d tokens in any hour", "10 tokens per day, burst %d"} {
		limit = fmt.Sprintf(limit, most)
		t.Run(limit, func(t *testing.T) {
			up := fakeopenai.New(t)
			up.Always(model, fakeopenai.Answer{Text: words(3000)})
			p := harness.Start(t, harness.Config{
				Upstream: up.URL, Limits: []string{limit}, More: noonHere(time.Now()),
				Models: "  \"gpt-*\": { upstream: fake, default_output_tokens: 200 }\n",
			})
			var received atomic.Int64
			var clients sync.WaitGroup
			for range streams {
				request := harness.Request(t, http.MethodPost, p.URL+"/v1/chat/completions", harness.Alice, ask(`"stream": true`))
				clients.Go(func() {
					resp, err := p.HTTP.Do(request)
					if err != nil {
						t.Error(err)
						return
					}
					switch got := harness.Read(resp); {
					case got.Err != nil || got.Status != http.StatusOK && got.Status != http.StatusTooManyRequests:
						t.Errorf("status %d, %v", got.Status, got.Err)
					case got.Status == http.StatusOK:
						received.Add(int64(strings.Count(string(got.Body), `"content":" `)))
						if !strings.HasSuffix(string(got.Body), "\n\ndata: [DONE]\n\n") {
							t.Errorf("the end: %.200q", got.Body[max(0, len(got.Body)-200):])
						}
					}
				})
			}
			clients.Wait()
			p.WantIdle(t)
			worth := received.Load()
			for _, call := range up.Calls() {
				worth += call.Prompt
			}
			if left := p.Remaining(t, "alice"); worth > most || left != most-worth || left > most/20 {
				t.Errorf("%d calls were worth %d of %d, and %d are left", len(up.Calls()), worth, most, left)
			}
		})
	}
}
