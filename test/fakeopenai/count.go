package fakeopenai

import (
	"sync"

	"github.com/pkoukk/tiktoken-go"
	tiktokenloader "github.com/pkoukk/tiktoken-go-loader"
)

// encoding loads o200k_base once for the process: the loader is a global of tiktoken-go.
var encoding = sync.OnceValues(func() (*tiktoken.Tiktoken, error) {
	tiktoken.SetBpeLoader(tiktokenloader.NewOfflineLoader())
	return tiktoken.GetEncoding("o200k_base")
})

// counter counts o200k_base tokens with tiktoken-go and remembers texts it has seen: a load test sends one text often.
type counter struct {
	mu   sync.Mutex
	seen map[string]int64
}

func newCounter() *counter { return &counter{seen: map[string]int64{}} }

// Tokens is the number of o200k_base tokens of text.
func (c *counter) Tokens(text string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := c.seen[text]; ok {
		return n
	}
	tokenizer, err := encoding()
	if err != nil {
		panic("fakeopenai: load o200k_base: " + err.Error()) // the vocabulary is compiled in
	}
	n := int64(len(tokenizer.EncodeOrdinary(text)))
	c.seen[text] = n
	return n
}

// prompt is OpenAI's published formula for chat input: 3 tokens a message and its strings, 1 more for a name, 3 to
// prime the reply (How_to_count_tokens_with_tiktoken in the OpenAI cookbook).
func (c *counter) prompt(messages []message) int64 {
	total := int64(3)
	for _, m := range messages {
		total += 3 + c.Tokens(m.Role) + c.Tokens(m.text())
		if m.Name != "" {
			total += 1 + c.Tokens(m.Name)
		}
	}
	return total
}
