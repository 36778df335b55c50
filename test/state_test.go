package test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/conversations"
	"github.com/openai/openai-go/v3/responses"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// asks is a request of the Responses API.
func asks(text string, edit ...func(*responses.ResponseNewParams)) responses.ResponseNewParams {
	p := responses.ResponseNewParams{
		Model: model, MaxOutputTokens: openai.Int(100), Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(text)},
	}
	for _, e := range edit {
		e(&p)
	}
	return p
}

func goesOn(id string) func(*responses.ResponseNewParams) {
	return func(p *responses.ResponseNewParams) { p.PreviousResponseID = openai.String(id) }
}

// notFound fails the test unless the error is OpenAI's 404.
func notFound(t *testing.T, what string, err error) {
	t.Helper()
	var e *openai.Error
	if !errors.As(err, &e) || e.StatusCode != 404 || e.Message == "" {
		t.Errorf("%s: %v, want a 404", what, err)
	}
}

// TestAnUnmodifiedClientKeepsState: responses that go on, plain and streamed, conversations, files and stored completions, as if
// there were no proxy; another key finds nothing of it, and a restart changes nothing.
func TestAnUnmodifiedClientKeepsState(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	stored := up.Store()
	p := harness.Start(t, harness.Config{Upstream: up.URL, Limits: []string{"1m tokens in total"}})
	ctx := t.Context()
	alice, bob := newOpenAIGo(p, harness.Alice), newOpenAIGo(p, harness.Bob)

	first, err := alice.Responses.New(ctx, asks("My number is seven."))
	if err != nil {
		t.Fatal(err)
	}
	stream := alice.Responses.NewStreaming(ctx, asks("What is it?", goesOn(first.ID)))
	second := ""
	for stream.Next() {
		if done := stream.Current(); done.Type == "response.completed" {
			second = done.Response.ID
		}
	}
	if err := stream.Err(); err != nil || second == "" {
		t.Fatalf("a stream that goes on: %q, %v", second, err)
	}
	if _, err := bob.Responses.New(ctx, asks("What is it?", goesOn(second))); true {
		notFound(t, "to go on with another's response", err)
	}
	_, err = bob.Responses.Get(ctx, first.ID, responses.ResponseGetParams{})
	notFound(t, "another's response", err)
	if got, err := alice.Responses.Get(ctx, first.ID, responses.ResponseGetParams{}); err != nil || got.OutputText() != first.OutputText() {
		t.Errorf("one's own response: %v", err)
	}

	conversation, err := alice.Conversations.New(ctx, conversations.ConversationNewParams{})
	if err != nil {
		t.Fatal(err)
	}
	in := func(p *responses.ResponseNewParams) {
		p.Conversation = responses.ResponseNewParamsConversationUnion{OfString: openai.String(conversation.ID)}
	}
	if _, err := alice.Responses.New(ctx, asks("Hello", in)); err != nil {
		t.Errorf("in one's own conversation: %v", err)
	}
	_, err = bob.Responses.New(ctx, asks("Hello", in))
	notFound(t, "in another's conversation", err)

	file, err := alice.Files.New(ctx, openai.FileNewParams{File: openai.File(strings.NewReader("some text"), "notes.txt", "text/plain"), Purpose: openai.FilePurposeUserData})
	if err != nil {
		t.Fatal(err)
	}
	content, err := alice.Files.Content(ctx, file.ID)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(content.Body); err != nil || string(text) != "some text" {
		t.Errorf("the file has %q, %v", text, err)
	}
	_, err = bob.Files.Content(ctx, file.ID)
	notFound(t, "another's file", err)
	_, err = alice.Files.New(ctx, openai.FileNewParams{File: strings.NewReader("{}"), Purpose: openai.FilePurposeBatch})
	var refused *openai.Error
	if !errors.As(err, &refused) || refused.StatusCode != 400 || refused.Param != "purpose" {
		t.Errorf("a batch's file: %v", err)
	}

	stored.Add("chat.completion", 30)
	for range 3 {
		chat := openaiGoParams()
		chat.Store = openai.Bool(true)
		if _, err := alice.Chat.Completions.New(ctx, chat); err != nil {
			t.Fatal(err)
		}
		stored.Add("chat.completion", 30)
	}
	seen := 0
	for list := alice.Chat.Completions.ListAutoPaging(ctx, openai.ChatCompletionListParams{Limit: openai.Int(2)}); list.Next(); {
		seen++
	}
	if seen != 3 {
		t.Errorf("%d stored completions are listed, want 3", seen)
	}
	if page, err := bob.Chat.Completions.List(ctx, openai.ChatCompletionListParams{}); err != nil || len(page.Data) != 0 {
		t.Errorf("another's list: %+v, %v", page, err)
	}

	p.Stop(t)
	p = p.Restart(t)
	alice, bob = newOpenAIGo(p, harness.Alice), newOpenAIGo(p, harness.Bob)
	third, err := alice.Responses.New(ctx, asks("Still there?", goesOn(second)))
	if err != nil {
		t.Fatalf("to go on after a restart: %v", err)
	}
	_, err = bob.Responses.New(ctx, asks("Still there?", goesOn(second)))
	notFound(t, "to go on with another's response after a restart", err)
	if err := alice.Responses.Delete(ctx, third.ID); err != nil {
		t.Error(err)
	}
	_, err = alice.Responses.Get(ctx, third.ID, responses.ResponseGetParams{})
	notFound(t, "what was deleted", err)
}

// TestStateRefused: the same client is told what to do instead.
func TestStateRefused(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Store()
	p := harness.Start(t, harness.Config{Upstream: up.URL, More: "state: refused\n"})
	alice := newOpenAIGo(p, harness.Alice)
	first, err := alice.Responses.New(t.Context(), asks("My number is seven."))
	if err != nil {
		t.Fatal(err)
	}
	calls := up.Everything()
	if sent := string(calls[len(calls)-1].Body); !strings.Contains(sent, `"store":false`) {
		t.Errorf("sent without store: false: %s", sent)
	}
	_, err = alice.Responses.New(t.Context(), asks("What is it?", goesOn(first.ID)))
	var refused *openai.Error
	if !errors.As(err, &refused) || refused.StatusCode != 400 || refused.Param != "previous_response_id" || !strings.Contains(refused.Message, "store") {
		t.Errorf("to go on: %v", err)
	}
	_, err = alice.Files.List(t.Context(), openai.FileListParams{})
	notFound(t, "a list of files", err)
}
