package wire

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestEveryDeltaCounts: a model made to repeat one character in tokens of their own produced more than the joined text shows.
func TestEveryDeltaCounts(t *testing.T) {
	for _, withhold := range []bool{false, true} {
		var stream strings.Builder
		stream.WriteString(`data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}` + "\n\n")
		for range 1000 {
			stream.WriteString(`data: {"choices":[{"index":0,"delta":{"content":"-"}}]}` + "\n\n")
		}
		stream.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n")
		a := NewAnswer(io.NopCloser(strings.NewReader(stream.String())), AnswerOptions{
			Stream: true, Withhold: withhold, Count: func(s string) int64 { return int64(len(s)) / 64 },
		})
		if _, err := io.ReadAll(a); err != nil {
			t.Fatal(err)
		}
		if got := a.Report().Counted; got != 1000 {
			t.Errorf("withhold %v: counted %d, want one for each of 1000 deltas", withhold, got)
		}
	}
}

func TestForeignMembersAreRefused(t *testing.T) {
	for _, name := range []string{"n_predict", "max_new_tokens", "models", "api_base", "plugins", "extra_body", "use_beam_search"} {
		body := func(value string) []byte {
			return fmt.Appendf(nil, `{"model":"m","messages":[],%q:%s}`, name, value)
		}
		if _, err := ReadChat(body(`5`)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		for _, off := range []string{`null`, `false`} {
			if _, err := ReadChat(body(off)); err != nil {
				t.Errorf("%s: %s: %v", name, off, err)
			}
		}
	}
	for _, body := range []string{
		`{"model":"m","messages":[],"tools":[{"web_search":{}}]}`,
		`{"model":"m","messages":[{"role":"user","content":[{"type":"video_url","video_url":{"url":"http://x"}}]}]}`,
		`{"model":" m","messages":[]}`, `{"model":"m\t","messages":[]}`,
	} {
		if _, err := ReadChat([]byte(body)); err == nil {
			t.Errorf("%s passed", body)
		}
	}
	req, err := ReadChat([]byte(`{"model":"m","messages":[],"documents":{"` + strings.Repeat("hidden ", 20) + `":1}}`))
	if err != nil || len(req.Cost.Text) != 1 {
		t.Errorf("a text in the place of a name is not counted: %v, %v", req, err)
	}
}
