package upstream_test

import (
	"net/http"
	"strings"
	"testing"

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

// TestRedactAsThePlainWay: what is sought, parts of it, and what stands for its characters, in any order.
func TestRedactAsThePlainWay(t *testing.T) {
	words := []string{
		"error", streamKey, `sk\u002dsk\\u002Dsecret`, `\u0073`, `\`, `"`, "org-", "org-abcdef7", " proj_a_b-c_d", "nor", "sk-", "s", "sk-sk-secre", "cret", "data: x", "\n", "\r\n",
	}
	u := upstreamWith(t, streamKey)
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 40).Draw(rt, "text"), "")
		if got, want := string(u.Redact([]byte(text))), plainlyRedacted(text); got != want {
			rt.Fatalf("%q became\n%q, want\n%q", text, got, want)
		}
	})
}

func FuzzRedact(f *testing.F) {
	f.Add("data: error K\n\ndata: K\r\n\r\nsk-sk-")
	f.Add(`{"error":{"message":"of org-abcdef7, key sk\u002dsk\\u002Dsecret"}}`)
	u := upstreamWith(f, streamKey)
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ReplaceAll(text[:min(len(text), 1000)], "K", streamKey) // the plain way takes the square of the length
		if got, want := string(u.Redact([]byte(text))), plainlyRedacted(text); got != want {
			t.Fatalf("%q became\n%q, want\n%q", text, got, want)
		}
	})
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

// TestRedactTakesLinearTime: what a model says may be all backslashes, and each may begin an escape. This took a minute for what is a
// blink now.
func TestRedactTakesLinearTime(t *testing.T) {
	u := upstreamWith(t, streamKey)
	for _, text := range []string{strings.Repeat(`\`, 1<<20), strings.Repeat(`s\`, 1<<19), strings.Repeat(`sk-sk\`, 1<<17), `"` + strings.Repeat(`\`, 1<<20) + "u0073" + `"`} {
		if got := string(u.Redact([]byte(text))); got != text {
			t.Errorf("%.40q… was changed", text)
		}
	}
	if got := string(u.Redact([]byte(strings.Repeat(`\`, 1<<16) + streamKey))); got != strings.Repeat(`\`, 1<<16)+"[key]" {
		t.Errorf("…%q", got[len(got)-20:])
	}
}
