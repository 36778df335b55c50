package upstream_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/tokenfare/tokenfare/proxy/upstream"
)

const streamKey = "sk-sk-secret"

func upstreamWith(t testing.TB, key string) *upstream.Upstream {
	t.Helper()
	u, err := upstream.New(upstream.Options{Name: "up", URL: "https://host/v1", Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func redacting(t testing.TB, body io.Reader) io.ReadCloser {
	t.Helper()
	return upstreamWith(t, streamKey).RedactErrors(io.NopCloser(body), func(event []byte) bool { return bytes.Contains(event, []byte("error")) })
}

// TestRedactErrors against the obvious way, however the stream is cut.
func TestRedactErrors(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(rt, "line end")
		var in, want strings.Builder
		for range rapid.IntRange(0, 6).Draw(rt, "events") {
			pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"error", streamKey, "sk-", "s", "sk-sk-secre", " ", "data: x", end + "data:"}), 1, 8).Draw(rt, "event")
			event := "data:" + strings.Join(pieces, "") + end + end
			in.WriteString(event)
			if strings.Contains(event, "error") {
				event = strings.ReplaceAll(event, streamKey, "[key]")
			}
			want.WriteString(event)
		}
		source := &cutReader{text: in.String(), cut: func() int { return rapid.IntRange(1, 30).Draw(rt, "cut") }}
		got, err := io.ReadAll(redacting(t, source))
		if err != nil || string(got) != want.String() {
			rt.Fatalf("%q became\n%q, %v, want\n%q", in.String(), got, err, want.String())
		}
	})
}

type cutReader struct {
	text string
	cut  func() int
}

func (c *cutReader) Read(p []byte) (int, error) {
	if c.text == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.cut())], c.text)
	c.text = c.text[n:]
	return n, nil
}

// TestRedactErrorsHoldsNothingBack of what cannot be the key, and nothing without bounds.
func TestRedactErrorsHoldsNothingBack(t *testing.T) {
	for _, text := range []string{"data: {\"a\":", "data: x\n\n", ": ping\n"} {
		from, to := io.Pipe()
		r := redacting(t, from)
		go func() { _, _ = to.Write([]byte(text)) }()
		p := make([]byte, 100)
		if n, err := r.Read(p); err != nil || string(p[:n]) != text {
			t.Errorf("%q is held back: %q, %v", text, p[:n], err)
		}
	}
	long := "data: " + streamKey + strings.Repeat("x", 3<<20) + "error\n\ndata: error " + streamKey
	broken := errors.New("broken")
	got, err := io.ReadAll(redacting(t, io.MultiReader(strings.NewReader(long), iotest.ErrReader(broken))))
	if want := strings.TrimSuffix(long, streamKey) + "[key]"; !errors.Is(err, broken) || string(got) != want {
		t.Errorf("%d bytes, %v, want %d: %s", len(got), err, len(want), got[max(0, len(got)-40):])
	}
}

// TestRedactFindsWhatIsEscaped: whatever stands for a character in JSON, and in JSON in a string of JSON.
func TestRedactFindsWhatIsEscaped(t *testing.T) {
	u, err := upstream.New(upstream.Options{
		Name: "up", URL: "https://host/v1", Key: "sk-a/b+c", Set: http.Header{"X-Token": {"long/secret-4711"}, "X-Json": {`{"token":"a\b"}`}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`sk-a/b+c, sk-a\/b+c`:                                      `[key], [key]`,
		`"\u0073\u006b\u002Da\/b\u002bc"`:                          `"[key]"`,
		`"{\"m\":\"sk\\u002da\\\/b+c\"}"`:                          `"{\"m\":\"[key]\"}"`,
		`a line\nsk-a/b+c\nof long\/secret-4711`:                   `a line\n[key]\nof [key]`,
		`"{\"token\":\"a\\b\"}"`:                                   `"[key]"`,
		`in org-AbCdEf123 (org\u002dAbCdEf123), proj_x-1_yz\n`:     `in org-… (org-…), proj_…\n`,
		`of\norg-AbCdEf123\nand`:                                   `of\norg-…\nand`,
		`cyborg-something, org-mode, org-\norganisation, sk-a\/b+`: `cyborg-something, org-mode, org-\norganisation, sk-a\/b+`,
		`\`: `\`, `\u`: `\u`, `\u00`: `\u00`, `sk\u002`: `sk\u002`, ``: ``,
	} {
		if got := string(u.Redact([]byte(text))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
