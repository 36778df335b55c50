package test

import (
	"strings"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
)

// sdkResponseChecks are about the Responses API.
func sdkResponseChecks() []sdkCheck {
	red := answers(fakeopenai.Answer{Text: words(20)})
	loop := answers(fakeopenai.Answer{Tools: twoTools}, fakeopenai.Answer{Text: []string{"Done."}})
	thinking := answers(fakeopenai.Answer{Text: words(20), Reasoning: []string{"Let me", " think."}})
	return []sdkCheck{
		{name: "response", ask: sdkAsk{Do: "response", Limit: 100}, answers: red, want: sdkWant{text: spoken, usage: true, charged: each(20)}, ci: some},
		{name: "response, streamed", ask: sdkAsk{Do: "responseStream", Limit: 100}, answers: red, want: sdkWant{text: spoken, usage: true, charged: each(20)}, ci: some},
		{name: "response in gzip, streamed", ask: sdkAsk{Do: "responseStream", Limit: 100}, answers: answers(fakeopenai.Answer{Text: words(20), CompressAnyway: true}), want: sdkWant{text: spoken, usage: true, charged: each(20)}, ci: few},
		{name: "response in CRLF, byte by byte", ask: sdkAsk{Do: "responseStream", Limit: 100}, answers: answers(fakeopenai.Answer{Text: words(3), CRLF: true, ByteByByte: true}), want: sdkWant{text: " red green blue", charged: each(3)}},
		{name: "response with reasoning, streamed", ask: sdkAsk{Do: "responseStream", Model: "gpt-5-mini", Limit: 100}, answers: thinking, want: sdkWant{text: spoken}, ci: some},
		{name: "incomplete response", ask: sdkAsk{Do: "response", Limit: 20}, answers: answers(fakeopenai.Answer{Text: words(20), Finish: "length"}), want: sdkWant{text: spoken, charged: each(20)}, ci: few},
		{name: "incomplete response, streamed", ask: sdkAsk{Do: "responseStream", Limit: 20}, answers: answers(fakeopenai.Answer{Text: words(20), Finish: "length"}), want: sdkWant{text: spoken, charged: each(20)}, ci: few},
		{name: "failed response, streamed", ask: sdkAsk{Do: "responseStream", Limit: 100}, answers: answers(fakeopenai.Answer{Text: words(20), Finish: "failed"}), want: sdkWant{text: spoken, charged: each(20)}, not: []string{"ai-openai", "langchain"}},
		{name: "response with tools, streamed", ask: sdkAsk{Do: "responseStream", Limit: 100, Tools: true}, answers: answers(fakeopenai.Answer{Tools: twoTools}), want: sdkWant{calls: twoCalls}, ci: some},
		{name: "tool loop in two steps", ask: sdkAsk{Do: "toolLoop", Limit: 100, Tools: true}, answers: loop, want: sdkWant{text: "Done.", calls: twoCalls}, ci: full},
		{name: "tool loop in two steps, streamed", ask: sdkAsk{Do: "toolLoopStream", Limit: 100, Tools: true}, answers: loop, want: sdkWant{text: "Done.", calls: twoCalls}, ci: full},
		{name: "abort a response", ask: sdkAsk{Do: "responseStream", Limit: 100, StopAt: 10}, answers: answers(fakeopenai.Answer{Text: words(50), Pause: fakeopenai.Forever(), PauseAt: 25}), ci: some},
		{name: "response cut off", ask: sdkAsk{Do: "responseStream", Limit: 100}, answers: answers(fakeopenai.Answer{Text: words(40), Fault: fakeopenai.Abort, After: 14}), want: sdkWant{status: -1, charged: each(10)}, ci: some},
		{name: "response to an unknown key", ask: sdkAsk{Do: "response", Limit: 100}, secret: "tf-nobody", want: sdkWant{status: 401, code: "invalid_api_key", charged: uncharged}},
		{name: "50 responses at once", ask: sdkAsk{Do: "responseStream", Limit: 100, Parallel: 50}, answers: red, want: sdkWant{text: spoken, charged: each(20)}},
	}
}

// sdkOtherChecks are about completions, embeddings and moderations.
func sdkOtherChecks() []sdkCheck {
	const instruct, embedding = "gpt-3.5-turbo-instruct", "text-embedding-3-small"
	red := answers(fakeopenai.Answer{Text: words(20)})
	two := []string{"The quick brown fox", "jumps over the lazy dog — żółw"}
	many := strings.Fields(strings.Repeat("red green blue ", 100))
	return []sdkCheck{
		{name: "completion", ask: sdkAsk{Do: "completion", Model: instruct, Limit: 100}, answers: red, want: sdkWant{text: spoken, charged: each(20)}, ci: some},
		{name: "completion, streamed", ask: sdkAsk{Do: "completionStream", Model: instruct, Limit: 100}, answers: red, want: sdkWant{text: spoken, charged: each(20)}, ci: some},
		{name: "completion with usage, streamed", ask: sdkAsk{Do: "completionStream", Model: instruct, Limit: 100, Usage: true}, answers: red, want: sdkWant{text: spoken, usage: true, charged: each(20)}, not: []string{"langchain"}},
		{name: "completion cut off", ask: sdkAsk{Do: "completionStream", Model: instruct, Limit: 100}, answers: answers(fakeopenai.Answer{Text: words(40), Fault: fakeopenai.Abort, After: 10}), want: sdkWant{status: -1}},
		{name: "embeddings", ask: sdkAsk{Do: "embed", Model: embedding, Inputs: two}, want: sdkWant{vectors: true, charged: each(0)}, ci: some},
		{name: "embeddings as floats", ask: sdkAsk{Do: "embed", Model: embedding, Inputs: two, Format: "float"}, want: sdkWant{vectors: true, charged: each(0)}, ci: few},
		{name: "embeddings in base64", ask: sdkAsk{Do: "embed", Model: embedding, Inputs: two, Format: "base64"}, want: sdkWant{vectors: true, charged: each(0)}, ci: few, not: []string{"ai-openai", "ai-compatible", "langchain"}},
		{name: "300 embeddings", ask: sdkAsk{Do: "embed", Model: embedding, Inputs: many}, want: sdkWant{vectors: true}},
		{name: "embeddings with an unknown key", ask: sdkAsk{Do: "embed", Model: embedding, Inputs: two}, secret: "tf-nobody", want: sdkWant{status: 401, code: "invalid_api_key", charged: uncharged}},
		{name: "moderation", ask: sdkAsk{Do: "moderate", Model: "omni-moderation-latest", Inputs: []string{"no violence here"}}, want: sdkWant{flags: []bool{true}}, ci: few},
		{name: "moderation of several", ask: sdkAsk{Do: "moderate", Model: "omni-moderation-latest", Inputs: []string{"peace", "violence"}}, want: sdkWant{flags: []bool{false, true}}, not: []string{"go-openai"}},
	}
}

// sdkMediaChecks are about pictures and sound.
func sdkMediaChecks() []sdkCheck {
	const painter, voice = "gpt-image-1", "gpt-4o-mini-tts"
	png, sound := sha(fakeopenai.PNG()), []string{sha(fakeopenai.Sound())}
	heard := answers(fakeopenai.Answer{Text: []string{"Hello", " world"}})
	return []sdkCheck{
		{name: "picture", ask: sdkAsk{Do: "picture", Model: painter, N: 1}, want: sdkWant{sums: []string{png}, charged: each(4160)}, ci: few},
		{name: "two pictures", ask: sdkAsk{Do: "picture", Model: painter, N: 2}, want: sdkWant{sums: []string{png, png}, charged: each(8320)}, ci: some},
		{name: "picture, streamed", ask: sdkAsk{Do: "pictureStream", Model: painter}, want: sdkWant{finish: "image_generation.completed", charged: each(4160)}, ci: few},
		{name: "picture edit", ask: sdkAsk{Do: "pictureEdit", Model: painter}, want: sdkWant{sums: []string{png}, file: "image", charged: each(4160)}, ci: some},
		{name: "picture edit, streamed", ask: sdkAsk{Do: "pictureEditStream", Model: painter}, want: sdkWant{sums: []string{png}, finish: "image_edit.completed", file: "image", usage: true, charged: each(4160)}, ci: few},
		{name: "picture variation", ask: sdkAsk{Do: "pictureVariation", Model: "dall-e-2"}, want: sdkWant{sums: []string{png}, file: "image", unmetered: true}, ci: few},
		{name: "speech", ask: sdkAsk{Do: "speech", Model: voice}, want: sdkWant{sums: sound}, ci: some},
		{name: "speech as wav", ask: sdkAsk{Do: "speech", Model: voice, Format: "wav"}, want: sdkWant{sums: sound}},
		{name: "speech, streamed", ask: sdkAsk{Do: "speechStream", Model: voice}, want: sdkWant{sums: sound, usage: true, charged: each(100)}, ci: few},
		{name: "transcription", ask: sdkAsk{Do: "transcribe", Model: "gpt-4o-mini-transcribe"}, answers: heard, want: sdkWant{text: "Hello world", file: "file", charged: each(2)}, ci: some},
		{name: "transcription as text", ask: sdkAsk{Do: "transcribe", Model: "whisper-1", Format: "text"}, answers: heard, want: sdkWant{text: "Hello world\n", file: "file", unmetered: true}, ci: few, not: []string{"ai-openai", "openai-go"}},
		{name: "transcription as subtitles", ask: sdkAsk{Do: "transcribe", Model: "whisper-1", Format: "srt"}, answers: heard, want: sdkWant{text: "1\n00:00:00,000 --> 00:00:03,000\nHello world\n\n", unmetered: true}, not: []string{"ai-openai", "openai-go"}},
		{name: "transcription in detail", ask: sdkAsk{Do: "transcribe", Model: "whisper-1", Format: "verbose_json"}, answers: heard, want: sdkWant{text: "Hello world", unmetered: true}, not: []string{"ai-openai"}},
		{name: "transcription, streamed", ask: sdkAsk{Do: "transcribeStream", Model: "gpt-4o-mini-transcribe"}, answers: heard, want: sdkWant{text: "Hello world", finish: "transcript.text.done", file: "file", charged: each(2)}, ci: few},
		{name: "translation", ask: sdkAsk{Do: "translate", Model: "whisper-1"}, answers: heard, want: sdkWant{text: "Hello world", file: "file", unmetered: true}, ci: few},
		{name: "translation as text", ask: sdkAsk{Do: "translate", Model: "whisper-1", Format: "text"}, answers: heard, want: sdkWant{text: "Hello world\n", unmetered: true}, not: []string{"openai-go"}},
		{name: "transcription with an unknown key", ask: sdkAsk{Do: "transcribe", Model: "whisper-1"}, secret: "tf-nobody", want: sdkWant{status: 401, code: "invalid_api_key", charged: uncharged}},
		{name: "speech that never fits", ask: sdkAsk{Do: "speech", Model: voice, Prompt: strings.Repeat("red ", 100)}, key: "tiny", want: sdkWant{status: 400, code: "request_exceeds_budget", charged: uncharged}},
	}
}
