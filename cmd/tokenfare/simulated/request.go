package simulated

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
)

// maxBody is more than any prompt a model could hold.
const maxBody = 32 << 20

// maxOutput bounds an answer nobody bounded; no text composed here comes near it.
const maxOutput = 1 << 20

// chatRequest holds the members of a chat request that shape the answer. The others are accepted and ignored.
type chatRequest struct {
	Model               string          `json:"model"`
	Messages            []promptMessage `json:"messages"`
	Stream              bool            `json:"stream"`
	MaxTokens           *int64          `json:"max_tokens"`
	MaxCompletionTokens *int64          `json:"max_completion_tokens"`
	N                   *int            `json:"n"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Tools json.RawMessage `json:"tools"`
}

type promptMessage struct {
	Role    string  `json:"role"`
	Name    string  `json:"name"`
	Content content `json:"content"`
}

// content is a message's text: a string, or the text parts of an array, joined by line feeds; null is empty.
type content string

func (c *content) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		var parts []struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(b, &parts); err != nil {
			return err
		}
		var texts []string
		for _, p := range parts {
			if p.Text != "" {
				texts = append(texts, p.Text)
			}
		}
		*c = content(strings.Join(texts, "\n"))
		return nil
	}
	return json.Unmarshal(b, (*string)(c))
}

// readChat reads and checks a chat request against the models on offer.
func readChat(w http.ResponseWriter, r *http.Request, models []string) (*chatRequest, *apiError) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return nil, &apiError{Status: http.StatusRequestEntityTooLarge, Message: "The request body is too large."}
	}
	if err != nil {
		return nil, badRequest("", "", "We could not read the body of your request.")
	}
	req := new(chatRequest)
	if err := json.Unmarshal(body, req); err != nil {
		return nil, badRequest("", "", "We could not parse the JSON body of your request. "+
			"(HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, "+
			"but what was sent was not valid JSON, or a member of it has the wrong type.)")
	}
	switch {
	case req.Model == "":
		return nil, badRequest("", "", "you must provide a model parameter")
	case !slices.Contains(models, req.Model):
		return nil, modelNotFound(req.Model)
	case len(req.Messages) == 0:
		return nil, badRequest("messages", "missing_required_parameter", "Missing required parameter: 'messages'.")
	case req.N != nil && (*req.N < 1 || *req.N > 128):
		return nil, badRequest("n", "invalid_value", "Invalid 'n': expected a value between 1 and 128, but got %d instead.", *req.N)
	}
	for name, limit := range map[string]*int64{"max_tokens": req.MaxTokens, "max_completion_tokens": req.MaxCompletionTokens} {
		if limit != nil && *limit < 1 {
			return nil, badRequest(name, "integer_below_min_value",
				"Invalid '%s': integer below minimum value. Expected a value >= 1, but got %d instead.", name, *limit)
		}
	}
	return req, nil
}

// outputLimit is the most tokens each choice may have; of two limits given the smaller holds.
func (q *chatRequest) outputLimit() int64 {
	limit := int64(maxOutput)
	for _, given := range []*int64{q.MaxTokens, q.MaxCompletionTokens} {
		if given != nil {
			limit = min(limit, *given)
		}
	}
	return limit
}

func (q *chatRequest) choices() int {
	if q.N == nil {
		return 1
	}
	return *q.N
}

// question is the text of the last message by the user, or of the last message where there is none.
func (q *chatRequest) question() string {
	for _, m := range slices.Backward(q.Messages) {
		if m.Role == "user" {
			return string(m.Content)
		}
	}
	return string(q.Messages[len(q.Messages)-1].Content)
}

// promptTokens is the formula of OpenAI's cookbook, "How to count tokens with tiktoken": three tokens around every message,
// one for a name, three to prime the reply. Tools are added as compact JSON, for which there is no published formula.
func (q *chatRequest) promptTokens(count func(model, text string) int64) int64 {
	tokens := int64(3)
	for _, m := range q.Messages {
		tokens += 3 + count(q.Model, m.Role) + count(q.Model, string(m.Content))
		if m.Name != "" {
			tokens += 1 + count(q.Model, m.Name)
		}
	}
	if tools := new(bytes.Buffer); len(q.Tools) > 0 && json.Compact(tools, q.Tools) == nil && tools.String() != "null" {
		tokens += count(q.Model, tools.String())
	}
	return tokens
}
