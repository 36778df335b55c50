package fakeopenai

import (
	"fmt"
	"strings"
)

func (s *Server) readCompletions(c *Call) {
	c.IncludeUsage, c.Limited = c.asked.StreamOptions.IncludeUsage, true
	c.Choices = c.asked.choices() * int64(max(1, len(stringsIn(c.asked.Prompt))))
	limit, given := c.asked.limit()
	if !given {
		limit = 16 // OpenAI's API reference
	}
	c.Output, c.Prompt = limit*c.Choices, s.textTokens(c.asked.Prompt)
}

func (e *exchange) completionsPlain() (string, []byte) {
	var choices []string
	for i := range e.call.Choices {
		choices = append(choices, fmt.Sprintf(`{"text":%s,"index":%d,"logprobs":null,"finish_reason":%s}`, quote(strings.Join(e.text(), "")), i, quote(e.finish())))
	}
	return "application/json", indented(e.completion(strings.Join(choices, ","), `,"usage":`+e.reports()[0]))
}

func (e *exchange) completionsEvents() [][]byte {
	var out [][]byte
	quiet := ""
	if e.call.IncludeUsage {
		quiet = `,"usage":null`
	}
	add := func(choices, usage string) { out = append(out, []byte("data: "+e.completion(choices, usage)+"\n\n")) }
	for i := range e.call.Choices {
		for _, text := range e.text() {
			add(fmt.Sprintf(`{"text":%s,"index":%d,"logprobs":null,"finish_reason":null}`, quote(text), i), quiet)
		}
		add(fmt.Sprintf(`{"text":"","index":%d,"logprobs":null,"finish_reason":%s}`, i, quote(e.finish())), quiet)
	}
	if e.call.IncludeUsage {
		add("", `,"usage":`+e.reports()[0])
	}
	return append(out, []byte("data: [DONE]\n\n"))
}

func (e *exchange) completion(choices, usage string) string {
	return fmt.Sprintf(`{"id":"cmpl-%s0","object":"text_completion","created":%d,"model":%s,"choices":[%s]%s}`,
		e.call.User, created, quote(e.call.Model), choices, usage)
}
