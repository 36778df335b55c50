package test

import (
	"net/http"
	"strings"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
)

// framingVariants send the same events in other bytes.
func framingVariants() []variant {
	long := []string{"a", strings.Repeat(" long", 60_000), " b"}
	keepalive := fakeopenai.Answer{
		Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: ": OPENROUTER PROCESSING\n\n" + "data: {\"type\":\"keepalive\",\"sequence_number\":466}\n\n" + ": ping\n" +
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" red\"}}]}\n\n" + "event: ping\ndata: {}\n\n" + ": ping\n\n" +
			"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":1,\"total_tokens\":21}}\n\n" + ": bye\n\n" + "data: [DONE]\n\n",
	}
	return []variant{
		{
			name: "keepalive events and comments", members: quietStream, answer: says(keepalive), charged: func(*fakeopenai.Call) int64 { return 21 }, basis: "reported",
			body: withoutUsage,
		},
		{name: "CRLF", members: quietStream, answer: says(fakeopenai.Answer{Text: words(40), CRLF: true}), body: withoutUsage, charged: tokens(40), basis: "reported"},
		{name: "one byte a write", members: quietStream, answer: says(fakeopenai.Answer{Text: words(5), ByteByByte: true}), body: withoutUsage, charged: tokens(5), basis: "reported"},
		{name: "one byte a write, CRLF", members: quietStream, answer: says(fakeopenai.Answer{Text: words(5), ByteByByte: true, CRLF: true}), body: withoutUsage, charged: tokens(5), basis: "reported"},
		{name: "a line of 300 kB", members: `"stream": true, "max_tokens": 16000`, answer: says(fakeopenai.Answer{Text: long, Usage: []string{fakeopenai.UsageObject(20, 15_000)}}), body: withoutUsage, charged: exactly15k, basis: "reported"},
		{
			name: "a line of 300 kB, no usage", members: `"stream": true, "max_tokens": 16000`, answer: says(fakeopenai.Answer{Text: []string{"a", strings.Repeat(" red", 75_000), " b"}, Report: fakeopenai.Absent}),
			charged: tokens(75_002), basis: "counted",
		},
		{name: "no [DONE]", members: quietStream, answer: says(fakeopenai.Answer{Text: words(40), NoDone: true}), body: withoutUsage, charged: tokens(40), basis: "reported"},
	}
}

func exactly15k(*fakeopenai.Call) int64 { return 15_020 }

// gzipVariants compress although they were asked not to.
func gzipVariants() []variant {
	zipped := says(fakeopenai.Answer{Text: words(40), CompressAnyway: true})
	plain := `"max_tokens": 200`
	return []variant{
		{name: "gzip, plain, the client reads it", members: plain, accept: "gzip", answer: zipped, charged: tokens(40), basis: "reported"},
		{name: "gzip, plain, the client does not", members: plain, accept: "identity", answer: zipped, charged: tokens(40), basis: "reported"},
		{name: "gzip, a stream, the client reads it", members: askedStream, accept: "gzip", answer: zipped, charged: tokens(40), basis: "reported"},
		{name: "gzip, a stream, the client does not", members: askedStream, accept: "identity", answer: zipped, charged: tokens(40), basis: "reported"},
		{name: "gzip, usage withheld", members: quietStream, accept: "gzip, deflate", answer: zipped, body: withoutUsage, charged: tokens(40), basis: "reported"},
		{
			name: "gzip, no usage", members: askedStream, accept: "gzip", answer: says(fakeopenai.Answer{Text: words(40), CompressAnyway: true, Report: fakeopenai.Absent}),
			charged: tokens(40), basis: "counted",
		},
	}
}

// brokenVariants fail after the answer began. What they said until then is charged.
func brokenVariants() []variant {
	failing := func(last string) func(*fakeopenai.Call) fakeopenai.Answer {
		return says(fakeopenai.Answer{
			Header: http.Header{"Content-Type": {"text/event-stream"}},
			Body:   "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" red blue\"}}]}\n\n" + last,
		})
	}
	const failure = "{\"error\":{\"message\":\"The server had an error.\",\"type\":\"server_error\",\"param\":null,\"code\":null}}\n\n"
	return []variant{
		{name: "an error inside a stream", members: quietStream, answer: failing("data: " + failure + "data: [DONE]\n\n"), charged: tokens(2), basis: "counted"},
		{name: "an error event inside a stream, which ends", members: quietStream, answer: failing("event: error\ndata: " + failure), charged: tokens(2), basis: "counted"},
		{
			name: "an error inside a stream, with usage", members: quietStream,
			answer:  failing("data: {\"error\":{\"message\":\"x\"},\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":7,\"total_tokens\":27}}\n\ndata: [DONE]\n\n"),
			charged: func(*fakeopenai.Call) int64 { return 27 }, basis: "reported",
		},
	}
}
