package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
)

func TestOnlyLoopbackIsOpenWithoutKeys(t *testing.T) {
	for address, open := range map[string]bool{
		"127.0.0.1:8080": true, "localhost:8080": true, "[::1]:8080": true, "127.9.9.9:0": true,
		":8080": false, "0.0.0.0:8080": false, "[::]:8080": false, "10.0.0.1:8080": false, "example.com:80": false,
	} {
		if err := mayListen(address, proxy.Spec{}); (err == nil) != open {
			t.Errorf("%s without keys: %v", address, err)
		}
		if err := mayListen(address, proxy.Spec{Keys: []proxy.KeySpec{{Name: "alice"}}}); err != nil {
			t.Errorf("%s with keys: %v", address, err)
		}
	}
}

func TestWithoutConfigurationNorAccount(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	var stdout, stderr bytes.Buffer
	if code := dispatch(t.Context(), []string{"serve"}, &stdout, &stderr); code != 1 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"OPENAI_API_KEY=sk-… tokenfare serve", "-config config.yaml", "tokenfare demo"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("the message does not show %q:\n%s", want, stderr.String())
		}
	}
}

// TestObserveOnlyWithoutConfiguration: one key is made and printed once, the call passes unchanged, and the upstream gets its own
// key.
func TestObserveOnlyWithoutConfiguration(t *testing.T) {
	var got string
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = r.Header.Get("Authorization") + " " + string(body)
		io.WriteString(w, `{"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":1,"total_tokens":9}}`)
	}))
	defer up.Close()
	t.Setenv("OPENAI_API_KEY", "sk-upstream")
	t.Setenv("OPENAI_BASE_URL", up.URL+"/v1")
	var printed bytes.Buffer
	config, spec, _, err := configure("", &printed)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(printed.String(), "sk-upstream") {
		t.Error("the upstream's key was printed")
	}
	fields := strings.Fields(printed.String())
	key := ""
	for _, f := range fields {
		if strings.HasPrefix(f, "tf-") {
			key = f
		}
	}
	if !isLoopback(config.Listen) || !isLoopback(config.Admin.Listen) || key == "" {
		t.Fatalf("listens on %s and %s, key %q", config.Listen, config.Admin.Listen, key)
	}
	app, err := newApp(t.Context(), config, spec, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	const body = `{"model":"anything","messages":[{"role":"user","content":"Hi"}]}`
	r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+key)
	rec := httptest.NewRecorder()
	app.server.ServeHTTP(rec, r)
	if rec.Code != 200 || got != "Bearer sk-upstream "+body {
		t.Errorf("%d; the upstream got %q", rec.Code, got)
	}
}

func TestABadBaseURLIsNamedBeforeAnythingIsPromised(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-upstream")
	for address, says := range map[string]string{
		"api.example.com/v1":         "write https://api.example.com/v1",
		"ftp://example.com":          "not an http or https address",
		"https://me:hunter2@a.b/v1":  "user name or password",
		"me:hunter2@a.b/v1":          "does not begin with https://",
		"https://api.openai.com":     "https://api.openai.com/v1",
		"https://a.b/v1?version=new": "write the base alone: https://a.b/v1",
	} {
		t.Setenv("OPENAI_BASE_URL", address)
		ended, end := context.WithCancel(t.Context())
		end() // a proxy that starts all the same stops at once
		var stdout, stderr bytes.Buffer
		code := dispatch(ended, []string{"serve"}, &stdout, &stderr)
		if code != 1 || stdout.Len() > 0 || !strings.Contains(stderr.String(), "OPENAI_BASE_URL") || !strings.Contains(stderr.String(), says) {
			t.Errorf("%s: exit code %d, prints %q and %q", address, code, stdout.String(), stderr.String())
		}
		if strings.Contains(stderr.String(), "hunter2") {
			t.Errorf("%s: a password is shown: %s", address, stderr.String())
		}
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, 2, "Usage:"},
		{[]string{"--help"}, 0, "tokenfare demo"},
		{[]string{"help", "serve"}, 0, "SIGHUP"},
		{[]string{"serve", "--help"}, 0, "OPENAI_API_KEY"},
		{[]string{"estimate", "--help"}, 0, "request.json"},
		{[]string{"check", "--help"}, 0, "mistake"},
		{[]string{"keys", "--help"}, 0, "alice"},
		{[]string{"health", "--help"}, 0, "HEALTHCHECK"},
		{[]string{"demo", "--help"}, 0, "Ctrl-C"},
		{[]string{"bogus"}, 2, `no command "bogus"`},
		{[]string{"serve", "config.yaml"}, 2, "-config"},
		{[]string{"serve", "-nonsense"}, 2, "nonsense"},
		{[]string{"estimate"}, 2, "name one file"},
		{[]string{"version"}, 0, "tokenfare "},
	} {
		var stdout, stderr bytes.Buffer
		code := dispatch(t.Context(), c.args, &stdout, &stderr)
		out := stderr.String()
		if c.code == 0 {
			out = stdout.String()
		}
		if code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("%q: exit code %d, want %d; says %q, want %q in it", c.args, code, c.code, out, c.says)
		}
	}
}

func TestEstimateShowsEveryPart(t *testing.T) {
	dir := t.TempDir()
	request := filepath.Join(dir, "request.json")
	config := filepath.Join(dir, "config.yaml")
	write := func(name, content string) {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(request, `{"model":"gpt-4o-mini","n":2,"messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":{"name":"f"}}]}`)
	write(config, `
upstreams: { up: { url: "http://127.0.0.1:1/v1" } }
keys:
  alice: { hash: "sha256:`+strings.Repeat("ab", 32)+`", limits: ["1000 tokens per minute", "$5 each month", "8 at once", "9 requests in any minute, observe only"] }
  bob: { hash: "sha256:`+strings.Repeat("cd", 32)+`", limits: ["20 tokens per minute"] }
`)
	run := func(args ...string) (int, string) {
		var stdout, stderr bytes.Buffer
		code := dispatch(t.Context(), append([]string{"estimate"}, args...), &stdout, &stderr)
		return code, stdout.String() + stderr.String()
	}
	code, out := run("-config", config, "-key", "alice", request)
	for _, want := range []string{"gpt-4o-mini", "o200k_base", "messages  2       exact", "tools     14      formula", "overhead  15      formula", "this one would be inserted", "2 ", "key alice", "1000 tokens per minute", "$5 each month", "8 at once  ", "(only observed)", "cost  $0.000003525", "… $0.000"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit code %d; no %q in\n%s", code, want, out)
		}
	}
	if code, again := run(request, "-config", config, "-key", "alice"); code != 0 || again != out {
		t.Errorf("flags behind the file: exit code %d:\n%s", code, again)
	}
	if code, out := run("-config", config, "-key", "bob", request); code != 0 || !strings.Contains(out, "It can never pass") {
		t.Errorf("bob: exit code %d:\n%s", code, out)
	}
	if code, out := run("-config", config, request); code != 1 || !strings.Contains(out, "-key NAME") {
		t.Errorf("two keys, none chosen: exit code %d:\n%s", code, out)
	}
	if code, out := run(request); code != 0 || !strings.Contains(out, "assumed") {
		t.Errorf("without configuration: exit code %d:\n%s", code, out)
	}
	write(request, `{"model":"gpt-4o-mini","messages":"Hi"}`)
	if code, out := run(request); code != 1 || !strings.Contains(out, "messages") {
		t.Errorf("a bad request: exit code %d:\n%s", code, out)
	}
}

// pair writes a certificate and its key and returns the certificate's serial number.
func pair(t *testing.T, certFile, keyFile string, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0), DNSNames: []string{"localhost"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestARenewedCertificateIsServed(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if _, err := newCertificate(certFile, keyFile); err == nil {
		t.Error("missing files were taken")
	}
	pair(t, certFile, keyFile, 1)
	synctest.Test(t, func(t *testing.T) {
		c, err := newCertificate(certFile, keyFile)
		if err != nil {
			t.Fatal(err)
		}
		serial := func() int64 {
			got, err := c.get(nil)
			if err != nil {
				t.Fatal(err)
			}
			return got.Leaf.SerialNumber.Int64()
		}
		pair(t, certFile, keyFile, 2)
		if n := serial(); n != 1 {
			t.Errorf("at once: serial %d", n)
		}
		time.Sleep(certificateAge + time.Second)
		if n := serial(); n != 2 {
			t.Errorf("after a while: serial %d", n)
		}
		pair(t, certFile, filepath.Join(dir, "other.pem"), 3) // a renewal caught half way
		time.Sleep(certificateAge + time.Second)
		if n := serial(); n != 2 {
			t.Errorf("half a renewal: serial %d", n)
		}
	})
}

func TestRestartNeeded(t *testing.T) {
	a, b := defaultConfig(), defaultConfig()
	if names := restartNeeded(a, b); len(names) != 0 {
		t.Errorf("no change: %v", names)
	}
	b.Listen, b.TLS, b.MaxBody = "127.0.0.1:9", &TLSConfig{}, 1
	b.Timeouts.Headers++ // takes effect with the policy
	if got := strings.Join(restartNeeded(a, b), " "); got != "listen tls max_body" {
		t.Errorf("%s", got)
	}
}

func TestContentNotTimeDecides(t *testing.T) {
	dir := t.TempDir()
	one := filepath.Join(dir, "one.yaml")
	patterns := []string{filepath.Join(dir, "*.yaml")}
	write := func(name, content string) {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(one, "a: 1")
	first := contentOf(patterns)
	write(one, "a: 1")
	if err := os.Chtimes(one, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if contentOf(patterns) != first {
		t.Error("the time of a file changed its content")
	}
	write(one, "a: 2")
	if contentOf(patterns) == first {
		t.Error("a change was not seen")
	}
	write(one, "a: 1")
	write(filepath.Join(dir, "two.yaml"), "b: 1")
	if contentOf(patterns) == first {
		t.Error("a new file was not seen")
	}
}

func TestBufferedLogIsWrittenInTheEndAndInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		written := make(chan string, 10)
		b := newBufferedWriter(writerFunc(func(p []byte) (int, error) {
			written <- string(p)
			return len(p), nil
		}))
		io.WriteString(b, "one\n")
		if n := len(written); n > 0 {
			t.Errorf("%d writes at once", n)
		}
		began := time.Now()
		if got := <-written; got != "one\n" || time.Since(began) > flushEvery {
			t.Errorf("flushed %q after %v", got, time.Since(began))
		}
		io.WriteString(b, "two\n")
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if got := <-written; got != "two\n" {
			t.Errorf("Close wrote %q", got)
		}
	})
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestTheTokenGuardsTheMetrics(t *testing.T) {
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "metrics") })
	for _, c := range []struct {
		token, sent string
		status      int
	}{
		{"", "", 200}, {"0123456789abcdef", "", 401}, {"0123456789abcdef", "Bearer wrong", 401}, {"0123456789abcdef", "Bearer 0123456789abcdef", 200},
	} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Header.Set("Authorization", c.sent)
		rec := httptest.NewRecorder()
		guard(c.token, next).ServeHTTP(rec, r)
		if rec.Code != c.status {
			t.Errorf("token %q, sent %q: %d, want %d", c.token, c.sent, rec.Code, c.status)
		}
	}
}
