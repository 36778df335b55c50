package simulated

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"net/http"
)

// The objects of OpenAI's API, members in the order OpenAI writes them. Members that are null there are null here:
// clients test for them.

type completion struct {
	ID                string   `json:"id"`
	Object            string   `json:"object"`
	Created           int64    `json:"created"`
	Model             string   `json:"model"`
	Choices           []choice `json:"choices"`
	Usage             usage    `json:"usage"`
	ServiceTier       string   `json:"service_tier"`
	SystemFingerprint string   `json:"system_fingerprint"`
}

type choice struct {
	Index        int       `json:"index"`
	Message      message   `json:"message"`
	Logprobs     *struct{} `json:"logprobs"`
	FinishReason string    `json:"finish_reason"`
}

type message struct {
	Role        string     `json:"role"`
	Content     string     `json:"content"`
	Refusal     *string    `json:"refusal"`
	Annotations []struct{} `json:"annotations"`
}

type chunk struct {
	ID                string          `json:"id"`
	Object            string          `json:"object"`
	Created           int64           `json:"created"`
	Model             string          `json:"model"`
	ServiceTier       string          `json:"service_tier"`
	SystemFingerprint string          `json:"system_fingerprint"`
	Choices           []chunkChoice   `json:"choices"`
	Usage             json.RawMessage `json:"usage,omitempty"` // absent unless asked for; then null in all but the last chunk
}

type chunkChoice struct {
	Index        int       `json:"index"`
	Delta        any       `json:"delta"`
	Logprobs     *struct{} `json:"logprobs"`
	FinishReason *string   `json:"finish_reason"`
}

type firstDelta struct {
	Role    string  `json:"role"`
	Content string  `json:"content"`
	Refusal *string `json:"refusal"`
}

type contentDelta struct {
	Content string `json:"content"`
}

type usage struct {
	PromptTokens     int64             `json:"prompt_tokens"`
	CompletionTokens int64             `json:"completion_tokens"`
	TotalTokens      int64             `json:"total_tokens"`
	Prompt           promptDetails     `json:"prompt_tokens_details"`
	Completion       completionDetails `json:"completion_tokens_details"`
}

type promptDetails struct {
	Cached int64 `json:"cached_tokens"`
	Audio  int64 `json:"audio_tokens"`
}

type completionDetails struct {
	Reasoning          int64 `json:"reasoning_tokens"`
	Audio              int64 `json:"audio_tokens"`
	AcceptedPrediction int64 `json:"accepted_prediction_tokens"`
	RejectedPrediction int64 `json:"rejected_prediction_tokens"`
}

type modelList struct {
	Object string  `json:"object"`
	Data   []model `json:"data"`
}

type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

// writeJSON writes v indented by two blanks, as OpenAI writes its whole (not streamed) answers.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(v, "  ")) // a client that is gone has no use for the error
}

// encode keeps <, > and & as they are, as OpenAI does, and ends with one line feed.
func encode(v any, indent string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		panic("BUG: an answer of ours cannot be encoded: " + err.Error())
	}
	return b.Bytes()
}

func newID(prefix string) string { return prefix + rand.Text() }
