package wire

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// reportsOf is what is seen of a stream and of an answer that have a choice each, read in one piece and byte by byte.
func reportsOf(t *testing.T, stream bool, body string) Report {
	t.Helper()
	o := AnswerOptions{Stream: stream}
	_, whole := relay(t, o, strings.NewReader(body))
	_, slow := relay(t, o, iotest.OneByteReader(strings.NewReader(body)))
	if !cmp.Equal(whole, slow) {
		t.Errorf("%s\nin one piece %+v, byte by byte %+v", body, whole, slow)
	}
	return whole
}

// TestPicturesAndSoundInAChatAreUnseen: whoever makes them has them in their own members, as files or at addresses.
func TestPicturesAndSoundInAChatAreUnseen(t *testing.T) {
	const png = "data:image/png;base64,iVBORw0KGgo+/="
	for said, unseen := range map[string]bool{
		`"images":[{"type":"image_url","image_url":{"url":"` + png + `"}}]`:                                 true,
		`"content":"here","images":[{"image_url":{"url":"` + png + `"}}]`:                                   true,
		`"images":[{"image_url":"` + png + `"}]`:                                                            true,
		`"images":[{"url":"https://x/y.png"}]`:                                                              true,
		`"content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"https://x/y.png"}}]`: true,
		`"content":[{"inline":{"mime_type":"image/png","data":"iVBORw0KGgo+/="}}]`:                          true,
		`"content":[{"type":"file","url":"DATA:image/png;base64,AAAA"}]`:                                    true,
		`"image":{"b64_json":"AAAA"}`:                                                                       true,
		`"audio":{"id":"a","data":"UklGR","transcript":"a b"}`:                                              true,
		`"reasoning_details":[{"type":"reasoning.encrypted","data":"AAAA"}]`:                                true,
		`"images":[],"audio":null`:                                                                          false,
		`"images":[{"image_url":{"url":""}}],"audio":{"data":""}`:                                           false,
		`"content":"data:image/png;base64,AAAA"`:                                                            false,
		`"content":"a","signature":"AAAA","thought_signature":"AAAA"`:                                       false,
		`"content":"a","citations":[{"title":"b","url":"https://x/y.png"},{"url":"d"}]`:                     false,
		`"content":"a","annotations":[{"type":"url_citation","image_url":"https://x"}]`:                     false,
		`"images":[{"image_url":{"detail":"a"}}],"sources":[{"url":"https://x"}]`:                           false,
		`"audio":{"data":"one two"}`:                                                                        false,
	} {
		for name, body := range map[string]string{
			"a stream":          "data: {\"choices\":[{\"delta\":{" + said + "}}]}\n\n" + helloEvent + doneEvent,
			"its last event":    helloEvent + "data: {\"choices\":[{\"delta\":{" + said + "}}]}",
			"the same again":    strings.Repeat("data: {\"choices\":[{\"delta\":{"+said+"}}]}\n\n", 3),
			"an answer":         `{"choices":[{"message":{"role":"assistant",` + said + `}}]}`,
			"without a choice":  `{"message":{` + said + `}}`,
			"what is no answer": `[{"message":{` + said + `}}]`,
		} {
			if got := reportsOf(t, strings.Contains(body, "data: "), body); got.Unseen != unseen {
				t.Errorf("%s in %s: unseen %v", said, name, got.Unseen)
			}
		}
	}
}

// TestAPictureThatBreaksOffIsUnseen from its first byte on.
func TestAPictureThatBreaksOffIsUnseen(t *testing.T) {
	for body, unseen := range map[string]bool{
		`data: {"choices":[{"delta":{"images":[{"image_url":{"url":"data:image/png;base64,AA`: true,
		`data: {"choices":[{"delta":{"images":[{"image_url":{"url":"d`:                        true,
		`data: {"choices":[{"delta":{"images":[{"image_url":{"url":"`:                         false,
		`data: {"choices":[{"delta":{"file":{"url":"data:`:                                    false,
		`data: {"choices":[{"delta":{"file":{"url":"data:x`:                                   true,
		`data: {"choices":[{"delta":{"audio":{"data":"A`:                                      true,
		`data: {"choices":[{"delta":{"audio":{"data":"A","transcript":"a`:                     true,
	} {
		if got := reportsOf(t, true, body); got.Unseen != unseen {
			t.Errorf("%s: unseen %v", body, got.Unseen)
		}
	}
}

// TestTextBehindAUsageIsCounted: then it may not have been all there was, unless the event has one of its own.
func TestTextBehindAUsageIsCounted(t *testing.T) {
	own := strings.Replace(helloEvent, `"usage":null`, `"usage":{"prompt_tokens":9,"completion_tokens":1}`, 1)
	if own == helloEvent {
		t.Fatal("the event has no usage to replace")
	}
	for name, c := range map[string]struct {
		stream  string
		behind  bool
		counted int64
	}{
		"behind the text":           {helloEvent + usageEvent, false, 0},
		"before it":                 {usageEvent + helloEvent, true, 1},
		"before much of it":         {usageEvent + strings.Repeat(helloEvent, 9), true, 9},
		"between":                   {helloEvent + helloEvent + usageEvent + helloEvent, true, 3},
		"before and behind":         {usageEvent + helloEvent + helloEvent + usageEvent, false, 0},
		"with every text":           {own + own + own, false, 0},
		"with every text but one":   {own + own + helloEvent, true, 3},
		"before what is empty":      {helloEvent + usageEvent + `data: {"choices":[{"delta":{"content":""},"finish_reason":"stop"}]}` + "\n\n", false, 0},
		"none that says anything":   {strings.Replace(usageEvent, `"usage":{`, `"usage":{"x":1},"y":{`, 1) + helloEvent, false, 1},
		"before what is not an end": {usageEvent + strings.TrimSpace(helloEvent) + "\n", true, 1},
	} {
		for _, withhold := range []bool{false, true} {
			_, report := relay(t, AnswerOptions{Stream: true, Withhold: withhold}, io.Reader(iotest.HalfReader(strings.NewReader(c.stream+"\n"+doneEvent))))
			if report.Behind != c.behind || report.Counted != c.counted {
				t.Errorf("%s: behind %v, %d counted; want %v, %d", name, report.Behind, report.Counted, c.behind, c.counted)
			}
		}
	}
}
