package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tokenfare/tokenfare/proxy/upstream"
	"github.com/tokenfare/tokenfare/proxy/wire"
)

const screenedKey = "sk-sk-secret"

func screenOf(t testing.TB, body io.Reader) (io.ReadCloser, *wire.Answer) {
	t.Helper()
	a := wire.NewAnswer(io.NopCloser(body), wire.AnswerOptions{Object: true})
	return screen(a, screeningUpstream(t)), a
}

func screeningUpstream(t testing.TB) *upstream.Upstream {
	t.Helper()
	u, err := upstream.New(upstream.Options{Name: "up", URL: "https://host/v1", Key: screenedKey})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// pieceReader gives the pieces of a text one by one.
type pieceReader struct{ rest []string }

func (r *pieceReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.rest[0])
	if r.rest[0] = r.rest[0][n:]; r.rest[0] == "" {
		r.rest = r.rest[1:]
	}
	return n, nil
}

// TestScreenPassesWhatIsNoError: blanks at once, an answer as soon as it is whole, and one that is long as it comes.
func TestScreenPassesWhatIsNoError(t *testing.T) {
	long := strings.Repeat("x", mostHeld)
	for name, c := range map[string]struct{ pieces, want []string }{
		"blanks":           {[]string{"\n", " \r\n{", `"a":1}`, "\n"}, []string{"\n", " \r\n", `{"a":1}`, "\n"}},
		"in one piece":     {[]string{`{"a":"` + screenedKey + `"}`}, []string{`{"a":"` + screenedKey + `"}`}},
		"long":             {[]string{`{"a":"`, long, "y", `z","`, `b":1}`}, []string{`{"a":"` + long, "y", `z","`, `b":1}`}},
		"an error at last": {[]string{`{"a":"` + long + "y", `",`, `"error`, `":`, `"` + screenedKey, `"`, `}`}, []string{`{"a":"` + long + "y", `",`, `"error`, `":`, `"[key]"}`}},
		"not JSON":         {[]string{"<html>", "sk-other"}, []string{"<html>sk-other"}},
		"a marked object":  {[]string{"\xef", "\xbb\xbf", `{"a":`, `"` + screenedKey + `"}`}, []string{"\xef\xbb\xbf{\"a\":", `"` + screenedKey + `"}`}},
		"events":           {[]string{"data: {\"a\":1}\n\n", "data: {}\n\n", "data: [DO", "NE]\n\n"}, []string{"data: {\"a\":1}\n\n", "data: {}\n\n", "data: [DONE]\n\n"}},
		"comments":         {[]string{": ping\n\n", "data: {}\n\n"}, []string{": ping\n\n", "data: {}\n\n"}},
		"lines of JSON":    {[]string{"{\"a\":1}\n", "{\"a\":2}\n", "{\"a\":3}\n"}, []string{"{\"a\":1}\n", "{\"a\":2}\n", "{\"a\":3}\n"}},
		"an array":         {[]string{`[{"a":`, `1}`, `]`}, []string{`[{"a":1}]`}},
		"broken JSON":      {[]string{`{"a":`, `}`, `{"a"`, `:1`}, []string{`{"a":}`, `{"a"`, `:1`}},
		"nothing":          {nil, nil},
	} {
		s, _ := screenOf(t, &pieceReader{c.pieces})
		p := make([]byte, 2*mostHeld)
		var got []string
		var err error
		for err == nil {
			var n int
			if n, err = s.Read(p); n > 0 {
				got = append(got, string(p[:n]))
			}
		}
		if !errors.Is(err, io.EOF) || !slices.Equal(got, c.want) {
			t.Errorf("%s: %.300q, %v", name, got, err)
		}
	}
}

// TestScreenHoldsLittle of an error that has no end, and tells nothing of it.
func TestScreenHoldsLittle(t *testing.T) {
	text := screenedKey + strings.Repeat(" ", 1000)
	n := 0
	s, _ := screenOf(t, io.MultiReader(strings.NewReader(`{"error":"`), endless{text, &n}))
	p := make([]byte, 4<<10)
	for passed := 0; passed < 4<<20; {
		k, err := s.Read(p)
		if err != nil || bytes.Contains(p[:k], []byte(screenedKey)) {
			t.Fatalf("%q, %v", p[:k], err)
		}
		passed += k
		if n > passed+passed/50+mostFailed+len(p) {
			t.Fatalf("%d bytes were read and %d have passed", n, passed)
		}
	}
}

// endless is a text again and again, whole in each read.
type endless struct {
	text string
	n    *int
}

func (e endless) Read(p []byte) (int, error) {
	*e.n += len(e.text)
	return copy(p, e.text), nil
}

// TestScreenOfAnErrorThatBreaksOff: it may end within a secret.
func TestScreenOfAnErrorThatBreaksOff(t *testing.T) {
	broken := errors.New("broken")
	for text, want := range map[string]string{`{"a":"` + screenedKey: `{"a":"` + screenedKey, `{"error":"` + screenedKey[:9]: ""} {
		s, _ := screenOf(t, io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))
		if got, err := io.ReadAll(s); !errors.Is(err, broken) || string(got) != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}

// FuzzScreen: however an answer is cut, nothing is taken out but of one that carries an error, and of that all.
func FuzzScreen(f *testing.F) {
	f.Add(`{"error":{"message":"K, org-abcdef7"},"x":"K"}`, uint64(1))
	f.Add(" \n{\"error\":null,\"choices\":[{\"message\":{\"content\":\"\\\"error\\\":K\"}}]}\n", uint64(2))
	f.Add(`{"a":[{"error":"K"}],"\u0065rror":7,"b":"K"} K`, uint64(3))
	f.Add(`{"a":1}{"error":"K"}`, uint64(4))
	f.Add("\n<html>K</html>\n\n\ufeffK org-abcdef7", uint64(5))
	f.Add("data: {\"a\":\"K\"}\r\n\r\nevent: error\ndata: {\"a\":\"K\"}\n\n: K\n\ndata: K", uint64(6))
	f.Add(`{"detail":"K","code":1,"choices":["K"]}`, uint64(7))
	f.Add("\ufeff {\"object\":\"error\",\"a\":\"K\"}", uint64(8))
	f.Fuzz(func(t *testing.T, text string, pattern uint64) {
		text = strings.ReplaceAll(text, "K", screenedKey)
		var cut []string
		for rest := text; rest != ""; {
			pattern = pattern*6364136223846793005 + 1442695040888963407
			n := min(len(rest), 1+int(pattern>>59))
			cut, rest = append(cut, rest[:n]), rest[n:]
		}
		s, a := screenOf(t, &pieceReader{cut})
		got, err := io.ReadAll(s)
		want := text
		switch start := strings.TrimLeft(text, blanks); {
		case start == "":
		case !strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(start, "\ufeff"), blanks), "{") && strings.TrimLeft(strings.TrimPrefix(start, "\ufeff"), blanks) != "":
			want = text[:len(text)-len(start)] + readAs(t, start)
		case a.Failed():
			want = string(screeningUpstream(t).Redact([]byte(text)))
		}
		if err != nil || string(got) != want {
			t.Fatalf("%q became\n%q, %v, want\n%q", text, got, err, want)
		}
		var top map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &top) != nil || strings.Count(text, "{")+strings.Count(text, "[") >= 256 {
			return // nobody reads it, or it is nested too deep
		}
		if failed := len(top["error"]) > 0 && string(top["error"]) != "null" || string(top["object"]) == `"error"`; failed && !a.Failed() {
			t.Fatalf("%q carries an error", text)
		}
	})
}

// readAs is a text as it passes when it comes at once and is said to be a stream.
func readAs(t *testing.T, text string) string {
	t.Helper()
	a := wire.NewAnswer(io.NopCloser(strings.NewReader(text)), wire.AnswerOptions{Stream: true, Redact: screeningUpstream(t).Redact})
	passed, err := io.ReadAll(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(passed)
}
