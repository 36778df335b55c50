package test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

func startOpenAIGo(t *testing.T) func(sdkAsk) sdkSeen {
	t.Helper()
	network := &http.Transport{MaxIdleConnsPerHost: 50}
	t.Cleanup(network.CloseIdleConnections)
	return func(ask sdkAsk) sdkSeen {
		ctx, cancel := context.WithTimeout(t.Context(), sdkPatience)
		defer cancel()
		spy := &sdkTries{Transport: network}
		ask.Prompt = strings.Repeat(ask.Prompt, max(1, ask.Repeat))
		transport := http.RoundTripper(spy)
		if ask.Parallel > 0 {
			transport = network // tries are not looked at
		}
		as := func(key string) openai.Client {
			return openai.NewClient(option.WithAPIKey(key), option.WithBaseURL(ask.BaseURL), option.WithHTTPClient(&http.Client{Transport: transport}))
		}
		c := &openaiGoMatrix{as(ask.Key), as(cmp.Or(ask.Other, ask.Key)), ask}
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
			if api, ok := errors.AsType[*openai.Error](err); ok {
				seen.Error = &sdkError{Class: fmt.Sprintf("%T", api), Status: api.StatusCode, Code: api.Code, Type: api.Type, Param: api.Param, Message: api.Message}
			}
		}
		return seen
	}
}

// openaiGoMatrix is openai-go with what it is asked to do.
type openaiGoMatrix struct {
	openai.Client
	next openai.Client // what does the steps after the first
	ask  sdkAsk
}

func (c *openaiGoMatrix) chatParams() openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{Model: c.ask.Model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(c.ask.Prompt)}}
	if c.ask.Limit > 0 {
		p.MaxCompletionTokens = openai.Int(c.ask.Limit)
	}
	if c.ask.Usage {
		p.StreamOptions.IncludeUsage = openai.Bool(true)
	}
	if c.ask.Tools {
		p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "jump", Parameters: sdkTool})}
	}
	if strings.HasPrefix(c.ask.Do, "structured") {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: "animal", Schema: sdkSchema, Strict: openai.Bool(true),
		}}
	}
	return p
}

func (c *openaiGoMatrix) responseParams() responses.ResponseNewParams {
	p := responses.ResponseNewParams{Model: c.ask.Model, Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(c.ask.Prompt)}, Store: openai.Bool(false)}
	if c.ask.Limit > 0 {
		p.MaxOutputTokens = openai.Int(c.ask.Limit)
	}
	if c.ask.Tools {
		p.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction("jump", sdkTool, true)}
	}
	return p
}

func (c *openaiGoMatrix) do(ctx context.Context, stop func()) (seen sdkSeen, err error) {
	switch c.ask.Do {
	case "chat", "structured":
		answer, err := c.Chat.Completions.New(ctx, c.chatParams())
		if err != nil {
			return seen, err
		}
		seen.fromChat(answer)
		return seen, seen.parse(c.ask)
	case "chatStream", "structuredStream":
		return c.chatStream(ctx, stop)
	case "response":
		answer, err := c.Responses.New(ctx, c.responseParams())
		if err != nil {
			return seen, err
		}
		seen.fromResponse(answer)
		seen.Text = answer.OutputText()
	case "responseStream":
		return c.responseStream(ctx, stop)
	case "toolLoop":
		return c.toolLoop(ctx)
	case "completion":
		answer, err := c.Completions.New(ctx, c.completionParams())
		if err != nil {
			return seen, err
		}
		seen.Text, seen.Usage = answer.Choices[0].Text, answer.Usage.TotalTokens
	case "completionStream":
		err = drain(c.Completions.NewStreaming(ctx, c.completionParams()), func(chunk openai.Completion) {
			seen.Usage += chunk.Usage.TotalTokens
			for _, choice := range chunk.Choices {
				seen.Text += choice.Text
			}
		})
	case "embed":
		return c.embed(ctx)
	case "moderate":
		answer, err := c.Moderations.New(ctx, openai.ModerationNewParams{Model: c.ask.Model, Input: openai.ModerationNewParamsInputUnion{OfStringArray: c.ask.Inputs}})
		if err != nil {
			return seen, err
		}
		for _, r := range answer.Results {
			seen.Flags = append(seen.Flags, r.Flagged)
		}
	case "models":
		list := c.Models.ListAutoPaging(ctx)
		for list.Next() {
			seen.Names = append(seen.Names, list.Current().ID)
		}
		err = list.Err()
	default:
		return c.media(ctx)
	}
	return seen, err
}

// drain reads a stream to its end.
func drain[T any](stream *ssestream.Stream[T], each func(T)) error {
	defer stream.Close()
	for stream.Next() {
		each(stream.Current())
	}
	return stream.Err()
}

func (s *sdkSeen) fromChat(answer *openai.ChatCompletion) {
	message := answer.Choices[0].Message
	s.Text, s.Usage, s.Finish = message.Content, answer.Usage.TotalTokens, answer.Choices[0].FinishReason
	for _, call := range message.ToolCalls {
		s.Calls = append(s.Calls, sdkCall{call.Function.Name, call.Function.Arguments})
	}
}

// parse takes the text for the object that was asked for.
func (s *sdkSeen) parse(ask sdkAsk) error {
	if !strings.HasPrefix(ask.Do, "structured") {
		return nil
	}
	return json.Unmarshal([]byte(s.Text), &s.Object)
}

func (c *openaiGoMatrix) chatStream(ctx context.Context, stop func()) (seen sdkSeen, err error) {
	var all openai.ChatCompletionAccumulator
	err = drain(c.Chat.Completions.NewStreaming(ctx, c.chatParams()), func(chunk openai.ChatCompletionChunk) {
		all.AddChunk(chunk)
		if seen.Pieces++; len(chunk.Choices) == 0 {
			seen.WithoutChoices++
		}
		if seen.Pieces == c.ask.StopAt {
			seen.Left = time.Now().UnixMilli()
			stop()
		}
	})
	if err != nil || len(all.Choices) == 0 {
		return seen, err
	}
	left, pieces, without := seen.Left, seen.Pieces, seen.WithoutChoices
	seen.fromChat(&all.ChatCompletion)
	seen.Left, seen.Pieces, seen.WithoutChoices = left, pieces, without
	return seen, seen.parse(c.ask)
}

func (s *sdkSeen) fromResponse(answer *responses.Response) {
	s.Usage, s.Finish = answer.Usage.TotalTokens, string(answer.Status)
	for _, item := range answer.Output {
		if item.Type == "function_call" {
			call := item.AsFunctionCall()
			s.Calls = append(s.Calls, sdkCall{call.Name, call.Arguments})
		}
	}
}

func (c *openaiGoMatrix) responseStream(ctx context.Context, stop func()) (seen sdkSeen, err error) {
	next := int64(0)
	err = drain(c.Responses.NewStreaming(ctx, c.responseParams()), func(event responses.ResponseStreamEventUnion) {
		if event.SequenceNumber != next {
			seen.Finish = fmt.Sprintf("event %d in place of %d", event.SequenceNumber, next)
		}
		next++
		switch event.Type {
		case "response.output_text.delta":
			seen.Text += event.Delta
		case "response.reasoning_summary_text.delta":
			seen.Reasoning += event.Delta
		case "response.completed", "response.incomplete", "response.failed":
			seen.fromResponse(&event.Response)
		}
		if seen.Pieces++; seen.Pieces == c.ask.StopAt {
			seen.Left = time.Now().UnixMilli()
			stop()
		}
	})
	return seen, err
}

func (c *openaiGoMatrix) toolLoop(ctx context.Context) (seen sdkSeen, err error) {
	first, err := c.Responses.New(ctx, c.responseParams())
	if err != nil {
		return seen, err
	}
	seen.fromResponse(first)
	again := c.responseParams()
	list := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage(c.ask.Prompt, responses.EasyInputMessageRoleUser)}
	for _, item := range first.Output {
		call := item.AsFunctionCall()
		output := responses.ResponseInputItemParamOfFunctionCallOutput(`{"height":"1m"}`)
		output.OfFunctionCallOutput.CallID = openai.String(call.CallID)
		list = append(list, responses.ResponseInputItemParamOfFunctionCall(call.Arguments, call.CallID, call.Name), output)
	}
	again.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: list}
	second, err := c.Responses.New(ctx, again)
	if err != nil {
		return seen, err
	}
	seen.Text, seen.Usage = second.OutputText(), 0
	return seen, nil
}

func (c *openaiGoMatrix) completionParams() openai.CompletionNewParams {
	p := openai.CompletionNewParams{
		Model: openai.CompletionNewParamsModel(c.ask.Model), Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String(c.ask.Prompt)}, MaxTokens: openai.Int(c.ask.Limit),
	}
	if c.ask.Usage {
		p.StreamOptions.IncludeUsage = openai.Bool(true)
	}
	return p
}
