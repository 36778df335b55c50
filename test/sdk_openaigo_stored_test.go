package test

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/conversations"
	"github.com/openai/openai-go/v3/packages/pagination"
	"github.com/openai/openai-go/v3/responses"
)

// keptParams are responseParams of what is to be stored.
func (c *openaiGoMatrix) keptParams() responses.ResponseNewParams {
	p := c.responseParams()
	p.Store = openai.Bool(true)
	return p
}

func (c *openaiGoMatrix) stored(ctx context.Context) (seen sdkSeen, err error) {
	switch c.ask.Do {
	case "countInput":
		count, err := c.Responses.InputTokens.Count(ctx, c.countParams())
		if err == nil {
			seen.Count = count.InputTokens
		}
		return seen, err
	case "countInputOf", "goOn", "goOnStream", "loopOn", "loopItems", "loopWhole", "keepResponse":
		return c.storedResponse(ctx)
	case "converse", "keepConversation":
		return c.storedConversation(ctx)
	case "fileInput", "keepFile":
		return c.storedFile(ctx)
	case "keepChat":
		return c.storedChat(ctx)
	default:
		return seen, fmt.Errorf("openai-go is not asked to %s", c.ask.Do)
	}
}

func (c *openaiGoMatrix) countParams() responses.InputTokenCountParams {
	return responses.InputTokenCountParams{Model: openai.String(c.ask.Model), Input: responses.InputTokenCountParamsInputUnion{OfString: openai.String(c.ask.Prompt)}}
}

// storedResponse begins with a response that is stored.
func (c *openaiGoMatrix) storedResponse(ctx context.Context) (seen sdkSeen, err error) {
	first, err := c.Responses.New(ctx, c.keptParams())
	if err != nil {
		return seen, err
	}
	seen.fromResponse(first)
	seen.IDs = []string{first.ID}
	again := c.keptParams()
	again.PreviousResponseID = openai.String(first.ID)
	switch c.ask.Do {
	case "countInputOf":
		p := c.countParams()
		p.PreviousResponseID = again.PreviousResponseID
		count, err := c.next.Responses.InputTokens.Count(ctx, p)
		if err == nil {
			seen.Count = count.InputTokens
		}
		return seen, err
	case "goOnStream":
		err = drain(c.next.Responses.NewStreaming(ctx, again), func(event responses.ResponseStreamEventUnion) {
			if event.Type == "response.output_text.delta" {
				seen.Text += event.Delta
			}
			seen.Usage += event.Response.Usage.TotalTokens
		})
		return seen, err
	case "loopOn":
		again.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: loopResults(first)}
	case "loopItems", "loopWhole":
		again = c.keptParams()
		var list responses.ResponseInputParam
		list, seen.IDs = c.loopInput(first)
		again.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: list}
	case "keepResponse":
		return c.keepResponse(ctx, seen)
	}
	return c.respond(ctx, seen, again)
}

// respond is the last step: its answer is the text, and its usage counts, too.
func (c *openaiGoMatrix) respond(ctx context.Context, seen sdkSeen, p responses.ResponseNewParams) (sdkSeen, error) {
	answer, err := c.next.Responses.New(ctx, p)
	if err == nil {
		seen.Text = answer.OutputText()
		seen.Usage += answer.Usage.TotalTokens
	}
	return seen, err
}

// loopResults are what the functions return that an answer calls.
func loopResults(answer *responses.Response) (list responses.ResponseInputParam) {
	for _, item := range answer.Output {
		if item.Type == "function_call" {
			output := responses.ResponseInputItemParamOfFunctionCallOutput(`{"height":"1m"}`)
			output.OfFunctionCallOutput.CallID = openai.String(item.AsFunctionCall().CallID)
			list = append(list, output)
		}
	}
	return list
}

// loopInput is the second input of a loop of tools, and the ids that it names: of all items of the first answer, or of its reasoning.
func (c *openaiGoMatrix) loopInput(answer *responses.Response) (list responses.ResponseInputParam, ids []string) {
	list = responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage(c.ask.Prompt, responses.EasyInputMessageRoleUser)}
	for _, item := range answer.Output {
		switch {
		case c.ask.Do == "loopItems":
			list = append(list, responses.ResponseInputItemParamOfItemReference(item.ID))
		case item.Type == "function_call":
			call := item.AsFunctionCall().ToParam()
			list = append(list, responses.ResponseInputItemUnionParam{OfFunctionCall: &call})
			continue
		case item.Type == "message":
			message := item.AsMessage().ToParam()
			list = append(list, responses.ResponseInputItemUnionParam{OfOutputMessage: &message})
			continue
		default:
			thought := item.AsReasoning().ToParam()
			list = append(list, responses.ResponseInputItemUnionParam{OfReasoning: &thought})
		}
		ids = append(ids, item.ID)
	}
	return append(list, loopResults(answer)...), ids
}

func (c *openaiGoMatrix) keepResponse(ctx context.Context, seen sdkSeen) (sdkSeen, error) {
	id := seen.IDs[0]
	read, err := c.next.Responses.Get(ctx, id, responses.ResponseGetParams{})
	if err != nil {
		return seen, err
	}
	seen.Text = read.OutputText()
	if _, err := c.next.Responses.InputItems.List(ctx, id, responses.InputItemListParams{}); err != nil {
		return seen, err
	}
	if err := c.next.Responses.Delete(ctx, id); err != nil {
		return seen, err
	}
	_, err = c.next.Responses.Get(ctx, id, responses.ResponseGetParams{})
	return seen, err
}

func (c *openaiGoMatrix) storedConversation(ctx context.Context) (seen sdkSeen, err error) {
	text := responses.ResponseInputMessageContentListParam{responses.ResponseInputContentParamOfInputText("My number is seven.")}
	if c.ask.Do == "keepConversation" {
		text[0].OfInputText.Text = c.ask.Prompt
	}
	made, err := c.Conversations.New(ctx, conversations.ConversationNewParams{Items: []responses.ResponseInputItemUnionParam{
		responses.ResponseInputItemParamOfMessage(text, responses.EasyInputMessageRoleUser),
	}})
	if err != nil {
		return seen, err
	}
	seen.IDs = []string{made.ID}
	if c.ask.Do == "converse" {
		p := c.keptParams()
		p.Conversation.OfString = openai.String(made.ID)
		return c.respond(ctx, seen, p)
	}
	if _, err := c.next.Conversations.Get(ctx, made.ID); err != nil {
		return seen, err
	}
	items, err := c.next.Conversations.Items.List(ctx, made.ID, conversations.ItemListParams{})
	if err != nil {
		return seen, err
	}
	for _, item := range items.Data {
		for _, part := range item.AsMessage().Content {
			seen.Text += part.Text
		}
	}
	if _, err := c.next.Conversations.Delete(ctx, made.ID); err != nil {
		return seen, err
	}
	_, err = c.next.Conversations.Get(ctx, made.ID)
	return seen, err
}

func (c *openaiGoMatrix) storedFile(ctx context.Context) (seen sdkSeen, err error) {
	made, err := c.Files.New(ctx, openai.FileNewParams{File: openai.File(strings.NewReader(sdkNotes), "notes.txt", "text/plain"), Purpose: openai.FilePurposeUserData})
	if err != nil {
		return seen, err
	}
	seen.IDs = []string{made.ID}
	if c.ask.Do == "fileInput" {
		p := c.keptParams()
		p.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
			responses.ResponseInputItemParamOfMessage(responses.ResponseInputMessageContentListParam{
				responses.ResponseInputContentParamOfInputText(c.ask.Prompt), {OfInputFile: &responses.ResponseInputFileParam{FileID: openai.String(made.ID)}},
			}, responses.EasyInputMessageRoleUser),
		}}
		return c.respond(ctx, seen, p)
	}
	if seen.Names, err = idsOf(c.next.Files.ListAutoPaging(ctx, openai.FileListParams{}), func(f openai.FileObject) string { return f.ID }); err != nil {
		return seen, err
	}
	if _, err := c.next.Files.Get(ctx, made.ID); err != nil {
		return seen, err
	}
	content, err := c.next.Files.Content(ctx, made.ID)
	if err != nil {
		return seen, err
	}
	defer content.Body.Close()
	text, err := io.ReadAll(content.Body)
	if err != nil {
		return seen, err
	}
	seen.Text = string(text)
	if _, err := c.next.Files.Delete(ctx, made.ID); err != nil {
		return seen, err
	}
	_, err = c.next.Files.Get(ctx, made.ID)
	return seen, err
}

func (c *openaiGoMatrix) storedChat(ctx context.Context) (seen sdkSeen, err error) {
	p := c.chatParams()
	p.Store = openai.Bool(true)
	made, err := c.Chat.Completions.New(ctx, p)
	if err != nil {
		return seen, err
	}
	seen.IDs, seen.Usage = []string{made.ID}, made.Usage.TotalTokens
	list := c.next.Chat.Completions.ListAutoPaging(ctx, openai.ChatCompletionListParams{Limit: openai.Int(2)})
	if seen.Names, err = idsOf(list, func(chat openai.ChatCompletion) string { return chat.ID }); err != nil {
		return seen, err
	}
	read, err := c.next.Chat.Completions.Get(ctx, made.ID)
	if err != nil {
		return seen, err
	}
	seen.Text = read.Choices[0].Message.Content
	if _, err := c.next.Chat.Completions.Messages.List(ctx, made.ID, openai.ChatCompletionMessageListParams{}); err != nil {
		return seen, err
	}
	if _, err := c.next.Chat.Completions.Delete(ctx, made.ID); err != nil {
		return seen, err
	}
	_, err = c.next.Chat.Completions.Get(ctx, made.ID)
	return seen, err
}

// idsOf reads a list to its end.
func idsOf[T any](list *pagination.CursorPageAutoPager[T], id func(T) string) (ids []string, err error) {
	for list.Next() {
		ids = append(ids, id(list.Current()))
	}
	return ids, list.Err()
}
