package simulated_test

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
	openai "github.com/sashabaranov/go-openai"

	"github.com/tokenfare/tokenfare/cmd/tokenfare/simulated"
)

func client(t *testing.T) *openai.Client {
	t.Helper()
	server := httptest.NewServer(instant())
	t.Cleanup(server.Close)
	config := openai.DefaultConfig("any key")
	config.BaseURL = server.URL + "/v1"
	config.HTTPClient = server.Client()
	return openai.NewClientWithConfig(config)
}

var story = openai.ChatCompletionRequest{
	Model:    "gpt-5-mini",
	Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "Tell me a long story"}},
}

func TestGoOpenAIReadsAWholeAnswer(t *testing.T) {
	got, err := client(t).CreateChatCompletion(t.Context(), story)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got.ID, "chatcmpl-") || got.Object != "chat.completion" || got.Model != "gpt-5-mini" ||
		got.Created == 0 || got.SystemFingerprint == "" || got.ServiceTier != "default" {
		t.Errorf("incomplete answer: %+v", got)
	}
	c := got.Choices[0]
	if c.Message.Role != "assistant" || c.FinishReason != openai.FinishReasonStop || c.LogProbs != nil {
		t.Errorf("choice: %+v", c)
	}
	if got.Usage.CompletionTokensDetails == nil || got.Usage.PromptTokensDetails == nil {
		t.Errorf("usage without details: %+v", got.Usage)
	}
}

func TestGoOpenAIReadsAStream(t *testing.T) {
	client := client(t)
	whole, err := client.CreateChatCompletion(t.Context(), story)
	if err != nil {
		t.Fatal(err)
	}
	request := story
	request.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	text, usage := readStream(t, client, request)
	if diff := cmp.Diff(whole.Choices[0].Message.Content, text); diff != "" {
		t.Errorf("streamed text differs from the whole one (-whole +streamed):\n%s", diff)
	}
	if diff := cmp.Diff(&whole.Usage, usage); diff != "" {
		t.Errorf("streamed usage differs from the whole one (-whole +streamed):\n%s", diff)
	}

	request.StreamOptions = nil
	if _, usage := readStream(t, client, request); usage != nil {
		t.Errorf("usage nobody asked for: %+v", usage)
	}
}

func TestThePiecesOfAStreamCountAsMuchAsTheWholeText(t *testing.T) {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	encoding, err := tiktoken.GetEncoding("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	count := func(_, text string) int64 { return int64(len(encoding.Encode(text, nil, nil))) }
	server := httptest.NewServer(simulated.New(simulated.Options{Count: count, Pace: -1, ThinkTime: -1}))
	defer server.Close()
	config := openai.DefaultConfig("any key")
	config.BaseURL = server.URL + "/v1"
	request := story
	request.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	for _, limit := range []int{0, 1, 2, 3, 50, 100, 190} {
		request.MaxCompletionTokens = limit
		text, usage := readStream(t, openai.NewClientWithConfig(config), request)
		if whole := count("", text); int64(usage.CompletionTokens) != whole {
			t.Errorf("limit %d: %d tokens reported for a text of %d", limit, usage.CompletionTokens, whole)
		}
		if limit > 0 && usage.CompletionTokens != limit {
			t.Errorf("limit %d: stopped at %d", limit, usage.CompletionTokens)
		}
	}
}

func readStream(t *testing.T, client *openai.Client, r openai.ChatCompletionRequest) (text string, usage *openai.Usage) {
	t.Helper()
	stream, err := client.CreateChatCompletionStream(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var finish openai.FinishReason
	for first := true; ; first = false {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(chunk.Choices) == 0 {
			usage = chunk.Usage
			continue
		}
		if chunk.Usage != nil {
			t.Errorf("usage beside text: %+v", chunk.Usage)
		}
		delta := chunk.Choices[0]
		if first != (delta.Delta.Role == "assistant") {
			t.Errorf("role %q; the first chunk alone carries it", delta.Delta.Role)
		}
		if finish != "" {
			t.Error("a chunk after the finish reason")
		}
		text, finish = text+delta.Delta.Content, delta.FinishReason
	}
	want := openai.FinishReasonStop
	if r.MaxCompletionTokens > 0 {
		want = openai.FinishReasonLength
	}
	if finish != want {
		t.Errorf("finish reason %q, want %q", finish, want)
	}
	return text, usage
}

func TestGoOpenAIReadsModelsAndErrors(t *testing.T) {
	client := client(t)
	list, err := client.ListModels(t.Context())
	if err != nil || len(list.Models) == 0 || list.Models[0].Object != "model" {
		t.Errorf("models %+v, %v", list, err)
	}
	request := story
	request.Model = "no-such-model"
	_, err = client.CreateChatCompletion(context.Background(), request)
	if e := new(openai.APIError); !errors.As(err, &e) || e.HTTPStatusCode != 404 || e.Code != "model_not_found" {
		t.Errorf("unknown model: %v", err)
	}
}
