package fakeopenai

import (
	"encoding/json"
	"strings"
)

// request is what the fake reads of a request, whatever its endpoint. encoding/json is good enough here: the product must have refused
// every body on which parsers could disagree before it arrives.
type request struct {
	Model               string          `json:"model"`
	Messages            []message       `json:"messages"`
	Stream              bool            `json:"stream"`
	N                   *int64          `json:"n"`
	MaxTokens           *int64          `json:"max_tokens"`
	MaxCompletionTokens *int64          `json:"max_completion_tokens"`
	User                string          `json:"user"`
	Tools               json.RawMessage `json:"tools"`
	Input               json.RawMessage `json:"input"`
	Instructions        json.RawMessage `json:"instructions"`
	Prompt              json.RawMessage `json:"prompt"`
	MaxOutputTokens     *int64          `json:"max_output_tokens"`
	EncodingFormat      string          `json:"encoding_format"`
	ResponseFormat      json.RawMessage `json:"response_format"`
	StreamFormat        string          `json:"stream_format"`
	PartialImages       int             `json:"partial_images"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type message struct {
	Role    string          `json:"role"`
	Name    string          `json:"name"`
	Content json.RawMessage `json:"content"`
}

// text joins the text of a message whose content is a string or a list of parts.
func (m message) text() string {
	var plain string
	if json.Unmarshal(m.Content, &plain) == nil {
		return plain
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(m.Content, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// choices is how many answers are asked for.
func (r request) choices() int64 {
	if r.N == nil {
		return 1
	}
	return *r.N
}

// limit is the output limit for each choice: the larger member, as an upstream that honours only one of them may use
// either.
func (r request) limit() (tokens int64, given bool) {
	for _, p := range []*int64{r.MaxTokens, r.MaxCompletionTokens} {
		if p != nil {
			tokens, given = max(tokens, *p), true
		}
	}
	return tokens, given
}

// word is a member that may hold a word or something else; "" for something else.
func (r request) word(member json.RawMessage) (word string) {
	if json.Unmarshal(member, &word) != nil {
		return ""
	}
	return word
}

// readChat reads what a chat call may use.
func (s *Server) readChat(c *Call) {
	c.IncludeUsage, c.Choices, c.Prompt = c.asked.StreamOptions.IncludeUsage, c.asked.choices(), s.counter.prompt(c.asked.Messages)
	limit, given := c.asked.limit()
	if c.Limited = given; given {
		c.Output = limit * c.Choices
	}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always marshals
	}
	return string(b)
}
