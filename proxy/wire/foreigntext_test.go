package wire_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

// TestErrorsThatAreNoJSON: clients find the text of a line and of a page, of 4xx; not more than a bound, and nothing that is hidden in it.
func TestErrorsThatAreNoJSON(t *testing.T) {
	const silent = "up answered 400, without saying why."
	hide := func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("sk-secret"), []byte("[key]")) }
	for name, c := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"nothing":                   {400, " \r\n", silent},
		"a line":                    {400, "no such\tthing\r\n", "up answered 400: no such thing"},
		"less and more":             {400, "a < b > c", "up answered 400: a < b > c"},
		"a page":                    {400, "\n<!DOCTYPE html><html><!-- <p>x --><body class='a'><p>Too<br>large &amp; slow</p></body></html>", "up answered 400: Too large & slow"},
		"a page without text":       {400, "<html><script>alert(1)</script><STYLE>b</STYLE></html>", silent},
		"a page that is cut":        {400, "<h1>Too large</h1><a hre", "up answered 400: Too large <a hre"},
		"a secret behind an entity": {400, "<p>sk&#45;secret</p>", "up answered 400: [key]"},
		"a secret at the bound":     {400, strings.Repeat("x", 1995) + "sk-secret", "up answered 400: " + strings.Repeat("x", 1995) + "[key]"},
		"a long text":               {400, strings.Repeat("ä", 1500), "up answered 400: " + strings.Repeat("ä", 1000) + "…"},
		"no text":                   {400, "\x1f\x8b\x08\x00", silent},
		"no UTF-8":                  {400, "gro\xdf", silent},
		"500":                       {500, "connect to 10.0.0.7:8443 refused", silent},
	} {
		e := wire.TextError(c.status, "up answered 400", []byte(c.body), hide)
		kind := "invalid_request_error"
		if c.status == 500 {
			kind = "server_error"
		}
		if e.Message != c.want || e.Type != kind || e.Status != c.status || e.Code != "upstream_failed" {
			t.Errorf("%s: %+v, want %q", name, e, c.want)
		}
	}
}

func FuzzTextError(f *testing.F) {
	for _, seed := range []string{"<p>a</p>", "<script>", "a\x00b", "<!--", "&lt;&#0;", "<" + strings.Repeat("a", 3000)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		e := wire.TextError(400, "a", body, func(b []byte) []byte { return b })
		if !utf8.ValidString(e.Message) || len(e.Message) > 2010 || strings.ContainsAny(e.Message, "\r\n") {
			t.Errorf("%q", e.Message)
		}
	})
}
