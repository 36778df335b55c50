package wire

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// packed compresses pieces, each of which can be unpacked before the next one comes.
func packed(t interface{ Fatal(args ...any) }, pieces ...string) string {
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	for _, piece := range pieces {
		if _, err := io.WriteString(zip, piece); err != nil {
			t.Fatal(err)
		}
		if err := zip.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// However a compressed body is cut, it passes unchanged, and says what it says where it is not compressed.
func TestGzipPassesAndIsRead(t *testing.T) {
	bodies := []struct {
		options AnswerOptions
		pieces  []string
	}{
		{AnswerOptions{}, []string{plain}},
		{AnswerOptions{Stream: true}, []string{firstEvent, helloEvent, worldEvent, usageEvent, doneEvent}},
		{AnswerOptions{Stream: true}, []string{helloEvent, worldEvent}},
		{AnswerOptions{Stream: true, Endpoint: Responses}, []string{responsesStream}},
		{AnswerOptions{Endpoint: Transcriptions, Text: true}, []string{"Hello", " world"}},
		{AnswerOptions{Endpoint: Speech, Bytes: true}, []string{"\x00\xff"}},
	}
	rapid.Check(t, func(rt *rapid.T) {
		body := rapid.SampledFrom(bodies).Draw(rt, "body")
		pattern := rapid.Uint64().Draw(rt, "pattern")
		whole := packed(rt, body.pieces...)
		_, want := relay(t, body.options, strings.NewReader(strings.Join(body.pieces, "")))
		o := body.options
		o.Gzip = true
		out, got := relay(t, o, &cutter{b: []byte(whole), pattern: pattern})
		if out != whole {
			rt.Fatalf("%q became %q", whole, out)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("report (-unpacked +packed):\n%s", diff)
		}
		unpacked, err := io.ReadAll(Gunzip(io.NopCloser(&cutter{b: []byte(whole), pattern: pattern})))
		if err != nil || string(unpacked) != strings.Join(body.pieces, "") {
			rt.Fatalf("unpacked to %q, %v", unpacked, err)
		}
	})
}

// What was passed on was looked at before: an answer is complete no later than its last event has passed.
func TestGzipIsReadBeforeItPasses(t *testing.T) {
	whole := packed(t, helloEvent, usageEvent, doneEvent)
	tail := packed(t)
	a := NewAnswer(io.NopCloser(strings.NewReader(whole[:len(whole)-len(tail)+10])), AnswerOptions{Stream: true, Gzip: true})
	n, err := a.Read(make([]byte, len(whole)))
	if n == 0 || err != nil || !a.Complete() {
		t.Errorf("read %d bytes, %v, and the answer is complete: %v", n, err, a.Complete())
	}
	if r := a.Report(); !r.Reported || r.Usage.Input != 9 {
		t.Errorf("report %+v", r)
	}
}

// What cannot be unpacked passes, and nobody can say how much it holds.
func TestGzipThatIsNone(t *testing.T) {
	whole := packed(t, helloEvent, worldEvent)
	for name, body := range map[string]string{
		"no gzip": plain, "empty": "", "cut in its header": whole[:5], "cut": whole[:len(whole)-12], "wrong sum": whole[:len(whole)-8] + "12345678",
	} {
		out, report := relay(t, AnswerOptions{Stream: true, Gzip: true}, strings.NewReader(body))
		if out != body || !report.Unseen || report.Complete {
			t.Errorf("%s: %q became %q, %+v", name, body, out, report)
		}
		if _, err := io.ReadAll(Gunzip(io.NopCloser(strings.NewReader(body)))); err == nil {
			t.Errorf("%s: unpacked without an error", name)
		}
	}
}

// A body made to fill whoever unpacks it is given up.
func TestGzipBomb(t *testing.T) {
	bomb := packed(t, strings.Repeat("\x00", maxUnpacked), strings.Repeat("\x00", 1<<20))
	n, err := io.Copy(io.Discard, Gunzip(io.NopCloser(strings.NewReader(bomb))))
	if !errors.Is(err, errGrowth) || n > maxUnpacked {
		t.Errorf("unpacked %d bytes, %v", n, err)
	}
	out, report := relay(t, AnswerOptions{Stream: true, Gzip: true}, strings.NewReader(bomb))
	if out != bomb || !report.Unseen {
		t.Errorf("the bomb passed: %v, %+v", out == bomb, report)
	}
}
