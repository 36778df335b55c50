package fakeopenai

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
)

// Sound is the speech that is always said: every byte there is, so that no text encoding survives it.
func Sound() []byte {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return bytes.Repeat(all, 64)
}

// soundTokens is what the usage of the speech says.
const soundTokens = 100

func (s *Server) readSpeech(c *Call) {
	c.Limited, c.Prompt, c.Output = true, s.textTokens(c.asked.Input), soundTokens
	c.Stream = c.asked.StreamFormat == "sse"
}

func (e *exchange) speechPlain() (string, []byte) {
	switch e.call.asked.word(e.call.asked.ResponseFormat) {
	case "wav":
		return "audio/wav", Sound()
	case "pcm":
		return "audio/pcm", Sound()
	case "opus":
		return "audio/opus", Sound()
	default:
		return "audio/mpeg", Sound()
	}
}

func (e *exchange) speechEvents() [][]byte {
	var out [][]byte
	for _, piece := range pieces(Sound()) {
		out = append(out, []byte(`data: {"type":"speech.audio.delta","audio":`+quote(base64.StdEncoding.EncodeToString(piece))+"}\n\n"))
	}
	return append(out, fmt.Appendf(nil, "data: {\"type\":\"speech.audio.done\",\"usage\":{\"input_tokens\":%d,\"output_tokens\":%d,\"total_tokens\":%d}}\n\n",
		e.call.Prompt, soundTokens, e.call.Prompt+soundTokens))
}

// pieces divides a body that leaves bit by bit.
func pieces(body []byte) (out [][]byte) {
	const most = 4 << 10
	for len(body) > most {
		out, body = append(out, body[:most]), body[most:]
	}
	return append(out, body)
}

// readRecording reads an upload: each file of any length is taken for three seconds, thirty tokens.
func (s *Server) readRecording(c *Call) {
	c.Limited, c.Prompt, c.Output = true, 30+s.textTokens(c.asked.Prompt), Unlimited
}

// transcriptUsage is in seconds for whisper, and in tokens for all others.
func (e *exchange) transcriptUsage() string {
	if strings.HasPrefix(e.call.Model, "whisper") {
		return `{"type":"duration","seconds":3}`
	}
	in, out := e.call.Prompt, e.output()
	return fmt.Sprintf(`{"type":"tokens","input_tokens":%d,"input_token_details":{"text_tokens":0,"audio_tokens":%d},"output_tokens":%d,"total_tokens":%d}`, in, in, out, in+out)
}

func (e *exchange) transcriptPlain() (string, []byte) {
	text := strings.Join(e.text(), "")
	switch e.call.asked.word(e.call.asked.ResponseFormat) {
	case "text":
		return "text/plain; charset=utf-8", []byte(text + "\n")
	case "srt":
		return "text/plain; charset=utf-8", []byte("1\n00:00:00,000 --> 00:00:03,000\n" + text + "\n\n")
	case "vtt":
		return "text/plain; charset=utf-8", []byte("WEBVTT\n\n00:00:00.000 --> 00:00:03.000\n" + text + "\n\n")
	case "verbose_json":
		return "application/json", indented(fmt.Sprintf(`{"task":"transcribe","language":"english","duration":3.0,"text":%s,"segments":[{"id":0,"seek":0,"start":0.0,"end":3.0,`+
			`"text":%s,"tokens":[1],"temperature":0.0,"avg_logprob":-0.2,"compression_ratio":1.1,"no_speech_prob":0.01}],"usage":%s}`, quote(text), quote(text), e.transcriptUsage()))
	default:
		return "application/json", indented(fmt.Sprintf(`{"text":%s,"usage":%s}`, quote(text), e.transcriptUsage()))
	}
}

func (e *exchange) transcriptEvents() [][]byte {
	var out [][]byte
	for _, text := range e.text() {
		out = append(out, []byte(`data: {"type":"transcript.text.delta","delta":`+quote(text)+"}\n\n"))
	}
	return append(out, fmt.Appendf(nil, "data: {\"type\":\"transcript.text.done\",\"text\":%s,\"usage\":%s}\n\n", quote(strings.Join(e.text(), "")), e.transcriptUsage()))
}
