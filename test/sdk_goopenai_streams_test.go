package test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sashabaranov/go-openai"
)

// next receives a piece of a stream. There is none after its end, nor after an error.
func next[T any](receive func() (T, error)) (piece T, more bool, err error) {
	if piece, err = receive(); errors.Is(err, io.EOF) {
		return piece, false, nil
	}
	return piece, err == nil, err
}

func (c *goOpenAIMatrix) chatStream(ctx context.Context, stop func()) (seen sdkSeen, err error) {
	stream, err := c.CreateChatCompletionStream(ctx, c.chatRequest())
	if err != nil {
		return seen, err
	}
	defer stream.Close()
	for {
		chunk, more, err := next(stream.Recv)
		if !more {
			return seen, err
		}
		if chunk.Usage != nil {
			seen.Usage += int64(chunk.Usage.TotalTokens)
		}
		if len(chunk.Choices) == 0 {
			seen.WithoutChoices++
		}
		for _, choice := range chunk.Choices {
			seen.Text += choice.Delta.Content
			for _, call := range choice.Delta.ToolCalls {
				if *call.Index == len(seen.Calls) {
					seen.Calls = append(seen.Calls, sdkCall{Name: call.Function.Name})
				}
				seen.Calls[*call.Index].Arguments += call.Function.Arguments
			}
		}
		if seen.Pieces++; seen.Pieces == c.ask.StopAt {
			seen.Left = time.Now().UnixMilli()
			stop()
		}
	}
}

func (c *goOpenAIMatrix) responseRequest(store bool) openai.CreateResponseRequest {
	return openai.CreateResponseRequest{Model: c.ask.Model, Input: c.ask.Prompt, MaxOutputTokens: int(c.ask.Limit), Store: &store}
}

func (c *goOpenAIMatrix) responses(ctx context.Context, stop func()) (seen sdkSeen, err error) {
	request := c.responseRequest(false)
	if c.ask.Tools {
		request.Tools = []openai.ResponseTool{openai.NewResponseFunctionTool(openai.FunctionDefinition{Name: "jump", Parameters: sdkTool, Strict: true})}
	}
	if c.ask.Do == "responseStream" {
		return c.responseStream(ctx, request, stop)
	}
	answer, err := c.CreateResponse(ctx, request)
	if err != nil {
		return seen, err
	}
	items := seen.fromGoOpenAI(answer)
	if c.ask.Do == "response" {
		return seen, nil
	}
	input := []any{map[string]string{"role": "user", "content": c.ask.Prompt}}
	for _, item := range items {
		input = append(input, item, openai.ResponseFunctionCallOutput{Type: "function_call_output", CallID: item.CallID, Output: `{"height":"1m"}`})
	}
	request.Input = input
	second, err := c.CreateResponse(ctx, request)
	if err != nil {
		return seen, err
	}
	calls := seen.Calls
	seen = sdkSeen{}
	seen.fromGoOpenAI(second)
	seen.Calls, seen.Usage = calls, 0
	return seen, nil
}

// fromGoOpenAI takes over what an answer says, and returns its items, which go-openai leaves undecoded.
func (s *sdkSeen) fromGoOpenAI(answer openai.CreateResponseResponse) (items []openai.ResponseOutputItem) {
	s.Finish = string(answer.Status)
	if answer.Usage != nil {
		s.Usage = int64(answer.Usage.TotalTokens)
	}
	text := ""
	for _, raw := range answer.Output {
		var item openai.ResponseOutputItem
		if b, err := json.Marshal(raw); err != nil || json.Unmarshal(b, &item) != nil {
			continue // it was JSON a moment ago
		}
		items = append(items, item)
		if item.Type == "function_call" {
			s.Calls = append(s.Calls, sdkCall{item.Name, item.Arguments})
		}
		for _, part := range item.Content {
			text += part.Text
		}
	}
	s.Text = text
	return items
}

func (c *goOpenAIMatrix) responseStream(ctx context.Context, request openai.CreateResponseRequest, stop func()) (seen sdkSeen, err error) {
	stream, err := c.CreateResponseStream(ctx, request)
	if err != nil {
		return seen, err
	}
	defer stream.Close()
	for {
		event, more, err := next(stream.Recv)
		if !more {
			return seen, err
		}
		switch event.Type {
		case "response.output_text.delta":
			seen.Text += event.Delta
		case "response.reasoning_summary_text.delta":
			seen.Reasoning += event.Delta
		case "response.completed", "response.incomplete", "response.failed":
			streamed := seen.Text
			if seen.fromGoOpenAI(*event.Response); seen.Text != streamed {
				return seen, fmt.Errorf("the pieces say %q, the whole %q", streamed, seen.Text)
			}
		}
		if seen.Pieces++; seen.Pieces == c.ask.StopAt {
			seen.Left = time.Now().UnixMilli()
			stop()
		}
	}
}

func (c *goOpenAIMatrix) completionStream(ctx context.Context) (seen sdkSeen, err error) {
	request := openai.CompletionRequest{Model: c.ask.Model, Prompt: c.ask.Prompt, MaxTokens: int(c.ask.Limit)}
	if c.ask.Usage {
		request.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	stream, err := c.CreateCompletionStream(ctx, request)
	if err != nil {
		return seen, err
	}
	defer stream.Close()
	for {
		chunk, more, err := next(stream.Recv)
		if !more {
			return seen, err
		}
		if chunk.Usage != nil {
			seen.Usage += int64(chunk.Usage.TotalTokens)
		}
		for _, choice := range chunk.Choices {
			seen.Text += choice.Text
		}
	}
}
