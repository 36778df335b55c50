package upstream_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/proxy/upstream"
)

func TestNewNamesTheWrongOption(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		options upstream.Options
		says    string
	}{
		{upstream.Options{Name: "up"}, "url must look like"},
		{upstream.Options{Name: "up", URL: "ftp://host/v1"}, "url must look like"},
		{upstream.Options{Name: "up", URL: "host/v1"}, "url must look like"},
		{upstream.Options{Name: "up", URL: "http://host/v1", Auth: "basic"}, "auth must be bearer or api-key"},
		{upstream.Options{Name: "up", URL: "http://host/v1", CAFile: "/nowhere.pem"}, "ca_file"},
		{upstream.Options{Name: "up", URL: "http://host/v1", CAFile: empty}, "no PEM certificate"},
	} {
		if _, err := upstream.New(c.options); err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "upstream up") {
			t.Errorf("%+v: %v", c.options, err)
		}
	}
}

func TestEndpointKeyAndRedaction(t *testing.T) {
	u, err := upstream.New(upstream.Options{Name: "up", URL: "https://host:1/prefix/v1/", Key: "sk-secret"})
	if err != nil {
		t.Fatal(err)
	}
	if got := u.Endpoint("/models").String(); got != "https://host:1/prefix/v1/models" {
		t.Errorf("endpoint %s", got)
	}
	h := u.Header(http.Header{"Authorization": {"Bearer caller"}}, "")
	if h.Get("Authorization") != "Bearer sk-secret" {
		t.Errorf("authorization %q", h.Get("Authorization"))
	}
	if got := string(u.Redact([]byte("key sk-secret, again sk-secret"))); got != "key [key], again [key]" {
		t.Errorf("redacted to %q", got)
	}
	keyless, err := upstream.New(upstream.Options{Name: "up", URL: "http://host/v1"})
	if err != nil {
		t.Fatal(err)
	}
	h = keyless.Header(nil, "")
	if h["Authorization"] != nil || string(keyless.Redact([]byte("text"))) != "text" {
		t.Errorf("a server without a key is sent %v", h)
	}
}

func TestKeyInAHeaderOfItsOwn(t *testing.T) {
	u, err := upstream.New(upstream.Options{
		Name: "up", URL: "https://host/openai/v1", Key: "secret", Auth: "api-key", Query: url.Values{"api-version": {"2026-01 & later"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	h := u.Header(nil, "")
	if h.Get("Api-Key") != "secret" || h.Get("Authorization") != "" {
		t.Errorf("the key is sent as %v", h)
	}
	if got := u.Endpoint("/models").String(); got != "https://host/openai/v1/models?api-version=2026-01+%26+later" {
		t.Errorf("endpoint %s", got)
	}
}
