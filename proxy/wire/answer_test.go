package wire

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tokenfare/tokenfare/cost"
)

// countWords stands for a tokenizer. Like one, it gives the same sum when a text is cut before a space.
func countWords(s string) int64 { return int64(len(strings.Fields(s))) }

// relay reads an answer to its end.
func relay(t *testing.T, o AnswerOptions, body io.Reader) (string, Report) {
	t.Helper()
	if o.Count == nil {
		o.Count = countWords
	}
	a := NewAnswer(io.NopCloser(body), o)
	out, err := io.ReadAll(a)
	report := a.Report()
	if !errors.Is(err, report.Err) {
		t.Errorf("reading ended with %v, the report says %v", err, report.Err)
	}
	if diff := cmp.Diff(report, a.Report(), cmpopts.EquateErrors()); diff != "" {
		t.Errorf("a second report differs:\n%s", diff)
	}
	return string(out), report
}

func checkReport(t *testing.T, got, want Report) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

const plain = `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"one two\nthree","refusal":null},"finish_reason":"stop"}],
 "usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":1},
 "completion_tokens_details":{"reasoning_tokens":2,"audio_tokens":null}},"service_tier":"default"}`

func TestAnswerPlain(t *testing.T) {
	usage := cost.Usage{Input: 10, CachedInput: 4, CacheWrite: 1, Output: 5, Reasoning: 2}
	tests := []struct {
		name, body string
		want       Report
	}{
		{"complete", plain, Report{Usage: usage, Tier: cost.Standard, Reported: true, SawOutput: true, Complete: true}},
		{"blanks behind", plain + " \n", Report{Usage: usage, Tier: cost.Standard, Reported: true, SawOutput: true, Complete: true}},
		{"cut in usage", plain[:strings.Index(plain, "cached")], Report{SawOutput: true, Counted: 3}},
		{"cut behind usage", plain[:len(plain)-1], Report{SawOutput: true, Counted: 3}},
		{"cut in text", plain[:strings.Index(plain, "wo\\n")+3], Report{SawOutput: true, Counted: 2}},
		{"two values", plain + plain, Report{SawOutput: true, Counted: 3}},
		{"nothing", "", Report{}},
		{"not an object", "[]", Report{Complete: true}},
		{"a string", `"usage"`, Report{}},
		{"HTML", "<html>busy</html>", Report{}},
		{"no usage", `{"choices":[{"message":{"content":"a b"}}]}`, Report{SawOutput: true, Counted: 2, Complete: true}},
		{"null usage", `{"choices":[{"message":{"content":"a b"}}],"usage":null}`, Report{SawOutput: true, Counted: 2, Complete: true}},
		{"empty usage", `{"choices":[{"message":{"content":"a b"}}],"usage":{}}`, Report{SawOutput: true, Counted: 2, Complete: true}},
		{
			"zero usage", `{"choices":[{"message":{"content":"a b"}}],"usage":{"prompt_tokens":0,"completion_tokens":0}}`,
			Report{SawOutput: true, Counted: 2, Complete: true, Reported: true},
		},
		{"tier", `{"service_tier":"flex","choices":[{"service_tier":"priority"}]}`, Report{Tier: cost.Flex, Complete: true}},
		{"escaped tier", `{"service_\u0074ier":"f\u006cex"}`, Report{Tier: cost.Flex, Complete: true}},
		{"unknown tier", `{"service_tier":"ultrafast and with a name that is longer than any"}`, Report{Tier: cost.OtherTier, Complete: true}},
		{"no tier", `{"service_tier":null}`, Report{Complete: true}},
		{"tier of another kind", `{"service_tier":{"service_tier":"flex"}}`, Report{Complete: true}},
		{"several tiers: the dearest", `{"service_tier":"flex","service_tier":"priority","service_tier":"default"}`, Report{Tier: cost.Priority, Complete: true}},
		{"error object", `{"error":{"message":"a b","type":null}}`, Report{Complete: true}},
		{
			"imitation in text", `{"choices":[{"message":{"content":"\"usage\":{\"prompt_tokens\":1}","usage":{"prompt_tokens":1}}}]}`,
			Report{SawOutput: true, Counted: 1, Complete: true},
		},
		{"imitation in a name", `{"choices":[],"a\":1,\"usage":{"prompt_tokens":1}}`, Report{Complete: true}},
		{"imitation deeper", `{"x":{"usage":{"prompt_tokens":1}}}`, Report{Complete: true}},
		{"escaped name", `{"us\u0061ge":{"prompt_tokens":1}}`, Report{Usage: cost.Usage{Input: 1}, Reported: true, Complete: true}},
		{"other case", `{"Usage":{"prompt_tokens":1}}`, Report{Complete: true}},
		{"long name", `{"usageusageusageusageusageusage":{"prompt_tokens":1}}`, Report{Complete: true}},
		{"usage in an array", `[{"usage":{"prompt_tokens":1}}]`, Report{Complete: true}},
		{
			"tool call", `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"c","function":{"name":"look ","arguments":"{\"a\": 1}"}}]}}]}`,
			Report{SawOutput: true, Counted: 3, Complete: true},
		},
		{
			"log probabilities are no text", `{"choices":[{"logprobs":{"content":[{"token":"a b c","bytes":[1]}]},"message":{"content":"a"}}]}`,
			Report{SawOutput: true, Counted: 1, Complete: true},
		},
		{"lone surrogates", `{"choices":[{"text":"\ud800 \udc00 \ud800"}]}`, Report{SawOutput: true, Counted: 3, Complete: true}},
		{"content parts", `{"choices":[{"message":{"content":[{"type":"text","text":"a b"}]}}]}`, Report{SawOutput: true, Counted: 2, Complete: true}},
		{
			"choices as object", `{"choices":{"message":{"content":"a"}},"usage":{"prompt_tokens":1,"completion_tokens":1}}`,
			Report{Usage: cost.Usage{Input: 1, Output: 1}, SawOutput: true, Reported: true, Complete: true},
		},
		{"too deep", strings.Repeat(`{"a":`, 600) + `1` + strings.Repeat(`}`, 600), Report{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out, report := relay(t, AnswerOptions{}, strings.NewReader(test.body))
			if out != test.body {
				t.Errorf("the body was changed: %q", out)
			}
			checkReport(t, report, test.want)
			_, slow := relay(t, AnswerOptions{}, iotest.OneByteReader(strings.NewReader(test.body)))
			checkReport(t, slow, test.want)
		})
	}
}

func TestAnswerUsageFigures(t *testing.T) {
	reported := func(u cost.Usage) Report { return Report{Usage: u, Reported: true, Complete: true} }
	bad := Report{Invalid: true, Complete: true}
	tests := map[string]Report{
		`{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}`:  reported(cost.Usage{Input: 3, Output: 2}),
		`{"prompt_tokens":3,"completion_tokens":2,"total_tokens":50}`: reported(cost.Usage{Input: 3, Output: 47}),
		`{"prompt_tokens":3,"completion_tokens":2,"total_tokens":1}`:  reported(cost.Usage{Input: 3, Output: 2}),
		`{"prompt_tokens":3}`:                                                                                                          reported(cost.Usage{Input: 3}),
		`{"completion_tokens":2,"total_tokens":5}`:                                                                                     reported(cost.Usage{Input: 3, Output: 2}),
		`{"prompt_tokens":3,"prompt_tokens":7,"unknown":{"x":[-1.5e3]}}`:                                                               reported(cost.Usage{Input: 7}),
		`{"prompt_tokens":3,"prompt_tokens_details":null,"completion_tokens_details":null}`:                                            reported(cost.Usage{Input: 3}),
		`{"prompt_tokens":3,"prompt_tokens_details":{"cached_tokens":9,"cache_write_tokens":9}}`:                                       reported(cost.Usage{Input: 3, CachedInput: 3}),
		`{"prompt_tokens":3,"completion_tokens":1,"completion_tokens_details":{"reasoning_tokens":9,"rejected_prediction_tokens":-1}}`: reported(cost.Usage{Input: 3, Output: 1, Reasoning: 1}),
		`{"prompt_tokens":9,"prompt_tokens_details":{"audio_tokens":4,"image_tokens":2,"text_tokens":3}}`:                              reported(cost.Usage{Input: 9, AudioInput: 4, ImageInput: 2}),
		`{"completion_tokens":8,"completion_tokens_details":{"audio_tokens":5,"image_tokens":1}}`:                                      reported(cost.Usage{Output: 8, AudioOutput: 5, ImageOutput: 1}),
		`{"prompt_tokens":3,"prompt_tokens_details":{"audio_tokens":-1}}`:                                                              {Invalid: true, Complete: true},
		`{"prompt_tokens":3,"queue_time":0.25,"prompt_tokens_details":{"cached_tokens":null,"x":"y"}}`:                                 reported(cost.Usage{Input: 3}),
		`{"prompt_tokens":999999999999999999,"total_tokens":1}`:                                                                        reported(cost.Usage{Input: 999999999999999999}),
		`{"prompt_tokens":-3,"completion_tokens":2}`:                                                                                   bad,
		`{"prompt_tokens":3,"completion_tokens":-0}`:                                                                                   bad,
		`{"prompt_tokens":3.5}`:                 bad,
		`{"prompt_tokens":3e2}`:                 bad,
		`{"prompt_tokens":"3"}`:                 bad,
		`{"prompt_tokens":[3]}`:                 bad,
		`{"prompt_tokens":9999999999999999999}`: bad,
		`{"prompt_tokens":3,"prompt_tokens_details":{"cached_tokens":-1}}`:     bad,
		`{"prompt_tokens":3,"prompt_tokens_details":[]}`:                       bad,
		`{"prompt_tokens":3,"x":"` + strings.Repeat("x", maxUsageBytes) + `"}`: bad,
		`{"prompt_tokens":tru}`: bad,
		`17`:                    bad,
		`"3"`:                   bad,
		`[{"prompt_tokens":3}]`: bad,
		`{"prompt_tokens":3},"usage":{"prompt_tokens":1,"completion_tokens":2}`:                                              reported(cost.Usage{Input: 3, Output: 2}),
		`{"prompt_tokens":3},"usage":false`:                                                                                  {Usage: cost.Usage{Input: 3}, Reported: true, Invalid: true, Complete: true},
		`{"prompt_tokens":null,"completion_tokens":null}`:                                                                    {Complete: true},
		"{ \"prompt_tokens\"\n:\t3 , \"completion_tokens_details\" : { \"reasoning_tokens\" : 1 } , \"total_tokens\" : 12 }": reported(cost.Usage{Input: 3, Output: 9, Reasoning: 1}),
	}
	for usage, want := range tests {
		body := `{"choices":[],"usage":` + usage + `,"x":1}`
		for _, r := range []io.Reader{strings.NewReader(body), iotest.OneByteReader(strings.NewReader(body))} {
			if _, report := relay(t, AnswerOptions{}, r); !cmp.Equal(report, want) {
				t.Errorf("usage %.100s:\n got %+v\nwant %+v", usage, report, want)
			}
		}
	}
}

func TestAnswerCountsOnlyWhenItMatters(t *testing.T) {
	calls := 0
	a := NewAnswer(io.NopCloser(strings.NewReader(plain)), AnswerOptions{Count: func(s string) int64 { calls++; return countWords(s) }})
	if _, err := io.Copy(io.Discard, a); err != nil {
		t.Fatal(err)
	}
	if r := a.Report(); r.Counted != 0 || calls != 0 {
		t.Errorf("counted %d tokens in %d calls of an answer that reports its usage", r.Counted, calls)
	}
	if n := a.Counted(); n != 3 || a.Counted() != n {
		t.Errorf("counted %d and then %d tokens, want 3", n, a.Counted())
	}
	if n := NewAnswer(io.NopCloser(strings.NewReader(plain)), AnswerOptions{}).Counted(); n != 0 {
		t.Errorf("counted %d tokens without a way to count", n)
	}
}
