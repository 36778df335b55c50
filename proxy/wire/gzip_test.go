package wire

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"

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

// However a compressed body is cut, it is unpacked to the same; one may have several members.
func TestGunzip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{plain, firstEvent, helloEvent, doneEvent, "\x00\xff", ""}), 1, 6).Draw(rt, "pieces")
		whole := packed(rt, pieces...) + packed(rt, " ")
		got, err := io.ReadAll(Gunzip(io.NopCloser(&cutter{b: []byte(whole), pattern: rapid.Uint64().Draw(rt, "pattern")})))
		if err != nil || string(got) != strings.Join(pieces, "")+" " {
			rt.Fatalf("unpacked to %q, %v", got, err)
		}
	})
}

// What came is unpacked at once, before more comes.
func TestGunzipWaitsForNothing(t *testing.T) {
	whole := packed(t, helloEvent, usageEvent, doneEvent)
	tail := packed(t)
	from, to := io.Pipe()
	go func() { _, _ = to.Write([]byte(whole[:len(whole)-len(tail)+10])) }()
	a := NewAnswer(Gunzip(from), AnswerOptions{Stream: true})
	p := make([]byte, len(helloEvent+usageEvent+doneEvent))
	if n, err := io.ReadFull(a, p); err != nil || !a.Complete() {
		t.Errorf("read %q, %v, and the answer is complete: %v", p[:n], err, a.Complete())
	}
	if r := a.Report(); !r.Reported || r.Usage.Input != 9 {
		t.Errorf("report %+v", r)
	}
}

// What cannot be unpacked is an error.
func TestGzipThatIsNone(t *testing.T) {
	whole := packed(t, helloEvent, worldEvent)
	for name, body := range map[string]string{
		"no gzip": plain, "empty": "", "cut in its header": whole[:5], "cut": whole[:len(whole)-12], "wrong sum": whole[:len(whole)-8] + "12345678",
	} {
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
}
