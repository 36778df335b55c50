package test

import (
	"context"
	"fmt"
	"io"

	"github.com/sashabaranov/go-openai"
)

func (c *goOpenAIMatrix) stored(ctx context.Context) (seen sdkSeen, err error) {
	switch c.ask.Do {
	case "countInput":
		count, err := c.CountResponseInputTokens(ctx, openai.ResponseInputTokensRequest{Model: c.ask.Model, Input: c.ask.Prompt})
		seen.Count = int64(count.InputTokens)
		return seen, err
	case "countInputOf", "goOn", "keepResponse":
		return c.storedResponse(ctx)
	case "fileInput", "keepFile":
		return c.storedFile(ctx)
	default:
		return seen, fmt.Errorf("go-openai is not asked to %s", c.ask.Do)
	}
}

func (c *goOpenAIMatrix) storedResponse(ctx context.Context) (seen sdkSeen, err error) {
	first, err := c.CreateResponse(ctx, c.responseRequest(true))
	if err != nil {
		return seen, err
	}
	seen.fromGoOpenAI(first)
	seen.IDs, seen.Text = []string{first.ID}, ""
	switch c.ask.Do {
	case "countInputOf":
		count, err := c.next.CountResponseInputTokens(ctx, openai.ResponseInputTokensRequest{Model: c.ask.Model, Input: c.ask.Prompt, PreviousResponseID: first.ID})
		seen.Count = int64(count.InputTokens)
		return seen, err
	case "goOn":
		again := c.responseRequest(true)
		again.PreviousResponseID = first.ID
		second, err := c.next.CreateResponse(ctx, again)
		if err != nil {
			return seen, err
		}
		usage := seen.Usage
		seen.fromGoOpenAI(second)
		seen.Usage += usage
		return seen, nil
	}
	read, err := c.next.GetResponse(ctx, first.ID)
	if err != nil {
		return seen, err
	}
	seen.fromGoOpenAI(read)
	if _, err := c.next.ListResponseInputItems(ctx, first.ID); err != nil {
		return seen, err
	}
	if _, err := c.next.DeleteResponse(ctx, first.ID); err != nil {
		return seen, err
	}
	_, err = c.next.GetResponse(ctx, first.ID)
	return seen, err
}

func (c *goOpenAIMatrix) storedFile(ctx context.Context) (seen sdkSeen, err error) {
	file, err := c.CreateFileBytes(ctx, openai.FileBytesRequest{Name: "notes.txt", Bytes: []byte(sdkNotes), Purpose: "user_data"})
	if err != nil {
		return seen, err
	}
	seen.IDs = []string{file.ID}
	if c.ask.Do == "fileInput" {
		request := c.responseRequest(true)
		request.Input = []any{map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "input_text", "text": c.ask.Prompt}, openai.ResponseInputFile{Type: "input_file", FileID: file.ID},
		}}}
		answer, err := c.next.CreateResponse(ctx, request)
		if err == nil {
			seen.fromGoOpenAI(answer)
		}
		return seen, err
	}
	list, err := c.next.ListFiles(ctx)
	if err != nil {
		return seen, err
	}
	for _, f := range list.Files {
		seen.Names = append(seen.Names, f.ID)
	}
	if _, err := c.next.GetFile(ctx, file.ID); err != nil {
		return seen, err
	}
	content, err := c.next.GetFileContent(ctx, file.ID)
	if err != nil {
		return seen, err
	}
	defer content.Close()
	text, err := io.ReadAll(content)
	if err != nil {
		return seen, err
	}
	seen.Text = string(text)
	if err := c.next.DeleteFile(ctx, file.ID); err != nil {
		return seen, err
	}
	_, err = c.next.GetFile(ctx, file.ID)
	return seen, err
}
