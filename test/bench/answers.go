package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// events is how many events the streams have, before the usage event and [DONE].
const events = 200

// blank stands in a prebuilt text where the number of the request goes.
const blank = "############"

// stamped is a prebuilt text with the number of a request in it, once or many times. A copy belongs to one connection.
type stamped struct {
	text  []byte
	slots []int // where the number goes
}

func newStamped(text string) stamped {
	s := stamped{text: []byte(text)}
	for at := 0; ; {
		i := strings.Index(text[at:], blank)
		if i < 0 {
			return s
		}
		s.slots = append(s.slots, at+i)
		at += i + len(blank)
	}
}

// with returns the text with number, as many digits as blank is long, in every slot. The text is good until the next call.
func (s stamped) with(number []byte) []byte {
	for _, at := range s.slots {
		copy(s.text[at:], number)
	}
	return s.text
}

// Bodies as OpenAI writes them. The answer is the same each time: what it costs to relay it does not depend on its words.

func chatBody() string {
	return fmt.Sprintf(`{
  "id": "chatcmpl-%s",
  "object": "chat.completion",
  "created": 1789000000,
  "model": "gpt-4o-mini-2024-07-18",
  "choices": [
    {
      "index": 0,
      "message": {
        "role": "assistant",
        "content": %q,
        "refusal": null,
        "annotations": []
      },
      "logprobs": null,
      "finish_reason": "stop"
    }
  ],
  "usage": %s,
  "service_tier": "default",
  "system_fingerprint": "fp_560af6e559"
}
`, blank, strings.TrimSpace(strings.Join(answerWords(120), "")), usageObject(120))
}

// eventTexts are the events of a stream, blank line included. A caller who asked for usage gets `"usage":null` in each, and one
// more event that has it.
func eventTexts(usage bool) []string {
	null := ""
	if usage {
		null = `,"usage":null`
	}
	event := func(choices, tail string) string {
		return fmt.Sprintf(`data: {"id":"chatcmpl-%s","object":"chat.completion.chunk","created":1789000000,"model":"gpt-4o-mini-2024-07-18",`+
			`"service_tier":"default","system_fingerprint":"fp_560af6e559","choices":[%s]%s}`+"\n\n", blank, choices, tail)
	}
	choice := func(delta, reason string) string {
		return event(`{"index":0,"delta":`+delta+`,"logprobs":null,"finish_reason":`+reason+`}`, null)
	}
	list := []string{choice(`{"role":"assistant","content":"","refusal":null}`, "null")}
	for _, word := range answerWords(events - 2) {
		list = append(list, choice(fmt.Sprintf(`{"content":%q}`, word), "null"))
	}
	list = append(list, choice("{}", `"stop"`))
	if usage {
		list = append(list, event("", `,"usage":`+usageObject(events-2)))
	}
	return append(list, "data: [DONE]\n\n")
}

// withheldTexts is what remains of a stream with usage when a proxy that asked for it keeps the usage event to itself.
func withheldTexts() []string {
	list := eventTexts(true)
	return slices.Delete(list, events, events+1)
}

func usageObject(output int) string {
	return fmt.Sprintf(`{"prompt_tokens":230,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},`+
		`"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}`, output, 230+output)
}

func answerWords(n int) []string {
	const text = ` The figures for the third quarter agree with the ledger, with two exceptions : a credit note that was booked twice,` +
		` and freight that was paid before the goods arrived . I would correct both before the report goes out .`
	words := strings.SplitAfter(text, " ")
	list := make([]string, n)
	for i := range list {
		list[i] = " " + strings.TrimSpace(words[i%len(words)])
	}
	return list
}

// wire is an answer as it stands on the connection, and where each event ends in it.
type wire struct {
	stamped
	ends []int
}

func plainWire(body string) wire {
	return wire{stamped: newStamped(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Request-Id: req_%s\r\n"+
		"Openai-Version: 2020-10-01\r\nX-Ratelimit-Limit-Requests: 10000\r\nContent-Length: %d\r\n\r\n%s", blank, len(body), body))}
}

// streamWire sends each event as an HTTP chunk of its own.
func streamWire(texts []string) wire {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\nX-Request-Id: req_%s\r\n"+
		"Openai-Version: 2020-10-01\r\nTransfer-Encoding: chunked\r\n\r\n", blank)
	var ends []int
	for _, text := range texts {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(text), text)
		ends = append(ends, b.Len())
	}
	b.WriteString("0\r\n\r\n")
	ends[len(ends)-1] = b.Len()
	return wire{stamped: newStamped(b.String()), ends: ends}
}
