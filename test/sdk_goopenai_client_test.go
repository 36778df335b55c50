package test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
)

func startGoOpenAI(t *testing.T) func(sdkAsk) sdkSeen {
	t.Helper()
	network := &http.Transport{MaxIdleConnsPerHost: 50}
	t.Cleanup(network.CloseIdleConnections)
	return func(ask sdkAsk) sdkSeen {
		ctx, cancel := context.WithTimeout(t.Context(), sdkPatience)
		defer cancel()
		spy := &sdkTries{Transport: network}
		ask.Prompt = strings.Repeat(ask.Prompt, max(1, ask.Repeat))
		as := func(key string) *openai.Client {
			config := openai.DefaultConfig(key)
			config.BaseURL = ask.BaseURL
			config.HTTPClient = &http.Client{Transport: spy}
			if ask.Parallel > 0 {
				config.HTTPClient = &http.Client{Transport: network} // tries are not looked at
			}
			return openai.NewClientWithConfig(config)
		}
		c := &goOpenAIMatrix{as(ask.Key), as(cmp.Or(ask.Other, ask.Key)), ask}
		do := func() (sdkSeen, error) { return c.do(ctx, cancel) }
		var seen sdkSeen
		var err error
		if ask.Parallel > 0 {
			seen, err = sdkParallel(ask.Parallel, do)
		} else {
			seen, err = do()
		}
		seen.Tries = spy.tries
		if err != nil && (ask.StopAt == 0 || !errors.Is(err, context.Canceled)) {
			seen.Error = &sdkError{Class: fmt.Sprintf("%T", err), Message: err.Error()}
			if api, ok := errors.AsType[*openai.APIError](err); ok {
				seen.Error = &sdkError{Class: fmt.Sprintf("%T", api), Status: api.HTTPStatusCode, Code: fmt.Sprint(api.Code), Type: api.Type, Message: api.Message}
			}
		}
		return seen
	}
}

// goOpenAIMatrix is go-openai with what it is asked to do.
type goOpenAIMatrix struct {
	*openai.Client
	next *openai.Client // what does the steps after the first
	ask  sdkAsk
}

func (c *goOpenAIMatrix) chatRequest() openai.ChatCompletionRequest {
	r := openai.ChatCompletionRequest{
		Model: c.ask.Model, Messages: []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: c.ask.Prompt}}, MaxCompletionTokens: int(c.ask.Limit),
	}
	if c.ask.Usage {
		r.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	if c.ask.Tools {
		r.Tools = []openai.Tool{{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: "jump", Parameters: sdkTool}}}
	}
	if c.ask.Do == "structured" {
		schema, err := json.Marshal(sdkSchema)
		if err != nil {
			panic(err) // plain maps always marshal
		}
		r.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: "animal", Schema: json.RawMessage(schema), Strict: true},
		}
	}
	return r
}

func (c *goOpenAIMatrix) do(ctx context.Context, stop func()) (seen sdkSeen, err error) {
	switch c.ask.Do {
	case "chat", "structured":
		answer, err := c.CreateChatCompletion(ctx, c.chatRequest())
		if err != nil {
			return seen, err
		}
		message := answer.Choices[0].Message
		seen.Text, seen.Usage, seen.Finish = message.Content, int64(answer.Usage.TotalTokens), string(answer.Choices[0].FinishReason)
		for _, call := range message.ToolCalls {
			seen.Calls = append(seen.Calls, sdkCall{call.Function.Name, call.Function.Arguments})
		}
		return seen, seen.parse(c.ask)
	case "chatStream":
		return c.chatStream(ctx, stop)
	case "response", "responseStream", "toolLoop":
		return c.responses(ctx, stop)
	case "completion":
		answer, err := c.CreateCompletion(ctx, openai.CompletionRequest{Model: c.ask.Model, Prompt: c.ask.Prompt, MaxTokens: int(c.ask.Limit)})
		if err != nil {
			return seen, err
		}
		seen.Text, seen.Usage = answer.Choices[0].Text, int64(answer.Usage.TotalTokens)
	case "completionStream":
		return c.completionStream(ctx)
	case "embed":
		return c.embed(ctx)
	case "moderate":
		answer, err := c.Moderations(ctx, openai.ModerationRequest{Model: c.ask.Model, Input: c.ask.Inputs[0]})
		if err != nil {
			return seen, err
		}
		seen.Flags = []bool{answer.Results[0].Flagged}
	case "models":
		list, err := c.ListModels(ctx)
		if err != nil {
			return seen, err
		}
		for _, m := range list.Models {
			seen.Names = append(seen.Names, m.ID)
		}
	default:
		return c.media(ctx)
	}
	return seen, nil
}

func (c *goOpenAIMatrix) embed(ctx context.Context) (seen sdkSeen, err error) {
	answer, err := c.CreateEmbeddings(ctx, openai.EmbeddingRequest{Input: c.ask.Inputs, Model: openai.EmbeddingModel(c.ask.Model), EncodingFormat: openai.EmbeddingEncodingFormat(c.ask.Format)})
	if err != nil {
		return seen, err
	}
	for _, d := range answer.Data {
		seen.Vectors = append(seen.Vectors, d.Embedding)
	}
	seen.Usage = int64(answer.Usage.TotalTokens)
	return seen, nil
}

func (c *goOpenAIMatrix) media(ctx context.Context) (seen sdkSeen, err error) {
	recording := openai.AudioRequest{Model: c.ask.Model, FilePath: "recording.wav", Reader: bytes.NewReader(sdkRecording), Format: openai.AudioResponseFormat(c.ask.Format)}
	var pictures openai.ImageResponse
	switch c.ask.Do {
	case "picture":
		pictures, err = c.CreateImage(ctx, openai.ImageRequest{Model: c.ask.Model, Prompt: c.ask.Prompt, N: c.ask.N})
	case "pictureEdit":
		pictures, err = c.CreateEditImage(ctx, openai.ImageEditRequest{Model: c.ask.Model, Prompt: c.ask.Prompt, Image: bytes.NewReader(fakeopenai.PNG()), N: 1})
	case "pictureVariation":
		pictures, err = c.CreateVariImage(ctx, openai.ImageVariRequest{Model: c.ask.Model, Image: bytes.NewReader(fakeopenai.PNG()), N: 1, ResponseFormat: "b64_json"})
	case "speech":
		answer, err := c.CreateSpeech(ctx, openai.CreateSpeechRequest{Model: openai.SpeechModel(c.ask.Model), Input: c.ask.Prompt, Voice: openai.VoiceAlloy, ResponseFormat: openai.SpeechResponseFormat(c.ask.Format)})
		if err != nil {
			return seen, err
		}
		defer answer.Close()
		body, err := io.ReadAll(answer)
		seen.Sums = []string{sha(body)}
		return seen, err
	case "transcribe":
		answer, err := c.CreateTranscription(ctx, recording)
		seen.Text = answer.Text
		return seen, err
	case "translate":
		answer, err := c.CreateTranslation(ctx, recording)
		seen.Text = answer.Text
		return seen, err
	default:
		return c.stored(ctx)
	}
	for _, d := range pictures.Data {
		b, err := base64.StdEncoding.DecodeString(d.B64JSON)
		if err != nil {
			return seen, err
		}
		seen.Sums = append(seen.Sums, sha(b))
	}
	return seen, err
}
