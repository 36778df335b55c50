package test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/test/harness"
)

// completion is the least an upstream can answer.
const completion = `{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"}}],"usage":{"prompt_tokens":8,"completion_tokens":1,"total_tokens":9}}`

// TestEnvironmentProxy: an upstream behind a corporate proxy is reached through it, by the variables that every program obeys.
func TestEnvironmentProxy(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 1)
	corporate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.RequestURI
		io.WriteString(w, completion)
	}))
	defer corporate.Close()
	config := harness.Config{Upstream: "http://llm.example.test/v1"}
	p := harness.StartYAML(t, config.YAML(), "HTTP_PROXY="+corporate.URL, "http_proxy="+corporate.URL, "NO_PROXY=", "no_proxy=")
	p.Chat(t, harness.Alice, ask()).WantOK(t)
	if got, want := <-asked, "POST http://llm.example.test/v1/chat/completions"; got != want {
		t.Errorf("the environment's proxy was asked %q, want %q", got, want)
	}
}

// TestUpstreamCA: an upstream with a certificate of one's own is trusted by ca_file and not without it.
func TestUpstreamCA(t *testing.T) {
	t.Parallel()
	up := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, completion) }))
	defer up.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: up.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	with := harness.Start(t, harness.Config{Upstream: up.URL + "/v1", UpstreamExtra: fmt.Sprintf("ca_file: %q", file), Limits: []string{"1000 tokens in total"}})
	with.Chat(t, harness.Alice, ask()).WantOK(t)
	without := harness.Start(t, harness.Config{Upstream: up.URL + "/v1", Limits: []string{"1000 tokens in total"}})
	if e := without.Chat(t, harness.Alice, ask()).WantError(t, http.StatusBadGateway); e.CodeText() != "upstream_unreachable" {
		t.Errorf("code %q", e.CodeText())
	}
	if left := without.Remaining(t, "alice"); left != 1000 {
		t.Errorf("a call that was never sent was charged: %d left of 1000", left)
	}
}

// TestTLS: the proxy speaks https with the operator's certificate.
func TestTLS(t *testing.T) {
	t.Parallel()
	donor := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	defer donor.Close()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, completion) }))
	defer up.Close()
	dir := t.TempDir()
	pair := donor.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, "key.pem": {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := harness.Config{Upstream: up.URL + "/v1", More: fmt.Sprintf("tls: { cert: %q, key: %q }\n", filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))}
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte(config.YAML()), 0o600); err != nil {
		t.Fatal(err)
	}
	p := harness.Launch(t, dir, nil, "serve", "-config", file)
	address := p.AwaitListening(t, "proxy")
	roots := x509.NewCertPool()
	roots.AddCert(donor.Certificate())
	p.HTTP.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots, ServerName: "example.com", MinVersion: tls.VersionTLS12}
	r, err := http.NewRequest(http.MethodPost, "https://"+address+"/v1/chat/completions", strings.NewReader(ask()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+harness.Alice)
	p.Do(t, r).WantOK(t)
}
