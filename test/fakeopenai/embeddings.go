package fakeopenai

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
)

// readInput reads what has an input and no output: embeddings and moderations.
func (s *Server) readInput(c *Call) {
	c.Limited, c.Prompt = true, s.textTokens(c.asked.Input)
	var ids []int64
	if json.Unmarshal(c.asked.Input, &ids) == nil {
		c.Prompt = int64(len(ids))
	}
}

// Vector is the embedding of a text: numbers that float32 holds exactly, so that no encoding may change them.
func Vector(text string) []float32 {
	out := make([]float32, 8)
	for i, c := range []byte(text) {
		out[i%len(out)] += (float32(c) - 96) / 64
	}
	return out
}

func (e *exchange) embeddings() (string, []byte) {
	texts := stringsIn(e.call.asked.Input)
	if len(texts) == 0 {
		texts = []string{""} // of token numbers
	}
	var data []string
	for i, text := range texts {
		vector, err := json.Marshal(Vector(text))
		if err != nil {
			panic(err) // finite numbers always marshal
		}
		if e.call.asked.EncodingFormat == "base64" {
			var b bytes.Buffer
			for _, x := range Vector(text) {
				binary.Write(&b, binary.LittleEndian, x)
			}
			vector = []byte(quote(base64.StdEncoding.EncodeToString(b.Bytes())))
		}
		data = append(data, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":%s}`, i, vector))
	}
	return "application/json", indented(fmt.Sprintf(`{"object":"list","data":[%s],"model":%s,"usage":{"prompt_tokens":%d,"total_tokens":%d}}`,
		strings.Join(data, ","), quote(e.call.Model), e.call.Prompt, e.call.Prompt))
}

// categories are those of omni-moderation (openai.com, API reference of moderations).
var categories = []string{
	"harassment", "harassment/threatening", "hate", "hate/threatening", "illicit", "illicit/violent", "self-harm", "self-harm/intent",
	"self-harm/instructions", "sexual", "sexual/minors", "violence", "violence/graphic",
}

// moderations flags every text that speaks of violence, and reports no usage: OpenAI reports none.
func (e *exchange) moderations() (string, []byte) {
	var results []string
	for _, text := range stringsIn(e.call.asked.Input) {
		var flags, scores, types []string
		for _, name := range categories {
			flagged := name == "violence" && strings.Contains(text, "violence")
			score := "0.0001"
			if flagged {
				score = "0.98"
			}
			flags, scores = append(flags, fmt.Sprintf("%q:%v", name, flagged)), append(scores, fmt.Sprintf("%q:%s", name, score))
			types = append(types, fmt.Sprintf(`%q:["text"]`, name))
		}
		results = append(results, fmt.Sprintf(`{"flagged":%v,"categories":{%s},"category_scores":{%s},"category_applied_input_types":{%s}}`,
			strings.Contains(text, "violence"), strings.Join(flags, ","), strings.Join(scores, ","), strings.Join(types, ",")))
	}
	return "application/json", indented(fmt.Sprintf(`{"id":"modr-0","model":%s,"results":[%s]}`, quote(e.call.Model), strings.Join(results, ",")))
}
