package simulated_test

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// normal blanks out what differs from run to run.
func normal(body string) string {
	body = regexp.MustCompile(`chatcmpl-[A-Z0-9]+`).ReplaceAllString(body, "chatcmpl-ID")
	return regexp.MustCompile(`"created":( ?)\d+`).ReplaceAllString(body, `"created":${1}0`)
}

const twoTokens = `"model":"gpt-5-mini","max_completion_tokens":2,"messages":[{"role":"user","content":"hi"}]`

func TestTheBytesOfAStream(t *testing.T) {
	const (
		head  = `data: {"id":"chatcmpl-ID","object":"chat.completion.chunk","created":0,"model":"gpt-5-mini","service_tier":"default","system_fingerprint":"fp_simulated","choices":[`
		first = `{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}]`
		one   = `{"index":0,"delta":{"content":"I"},"logprobs":null,"finish_reason":null}]`
		two   = `{"index":0,"delta":{"content":" read"},"logprobs":null,"finish_reason":null}]`
		last  = `{"index":0,"delta":{},"logprobs":null,"finish_reason":"length"}]`
		done  = "data: [DONE]\n\n"
		usage = `{"prompt_tokens":8,"completion_tokens":2,"total_tokens":10,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},` +
			`"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}`
	)
	plain, asked := "}\n\n", ",\"usage\":null}\n\n"
	for name, tc := range map[string]struct{ options, want string }{
		"usage not asked for": {``, head + first + plain + head + one + plain + head + two + plain + head + last + plain + done},
		"usage asked for": {
			`,"stream_options":{"include_usage":true}`,
			head + first + asked + head + one + asked + head + two + asked + head + last + asked + head + `],"usage":` + usage + "}\n\n" + done,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := chat(instant(), `{`+twoTokens+`,"stream":true`+tc.options+`}`)
			if diff := cmp.Diff(tc.want, normal(w.Body.String())); diff != "" {
				t.Errorf("stream (-want +got):\n%s", diff)
			}
			if got := w.Header().Get("Content-Type"); got != "text/event-stream; charset=utf-8" {
				t.Errorf("Content-Type %q", got)
			}
		})
	}
}

func TestTheBytesOfAWholeAnswer(t *testing.T) {
	const want = `{
  "id": "chatcmpl-ID",
  "object": "chat.completion",
  "created": 0,
  "model": "gpt-5-mini",
  "choices": [
    {
      "index": 0,
      "message": {
        "role": "assistant",
        "content": "I read",
        "refusal": null,
        "annotations": []
      },
      "logprobs": null,
      "finish_reason": "length"
    }
  ],
  "usage": {
    "prompt_tokens": 8,
    "completion_tokens": 2,
    "total_tokens": 10,
    "prompt_tokens_details": {
      "cached_tokens": 0,
      "audio_tokens": 0
    },
    "completion_tokens_details": {
      "reasoning_tokens": 0,
      "audio_tokens": 0,
      "accepted_prediction_tokens": 0,
      "rejected_prediction_tokens": 0
    }
  },
  "service_tier": "default",
  "system_fingerprint": "fp_simulated"
}
`
	if diff := cmp.Diff(want, normal(chat(instant(), `{`+twoTokens+`}`).Body.String())); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}
