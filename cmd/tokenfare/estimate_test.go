package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEstimateReadsEveryEndpoint(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	second := "RIFF....WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data...." + strings.Repeat("x", 8_000)
	config := write("config.yaml", "upstreams: { up: { url: http://localhost:1/v1 } }\nkeys:\n"+
		`  alice: { hash: "`+testHash+`", limits: 10000 tokens in total }`+"\n"+
		`  bob: { hash: "sha256:`+strings.Repeat("cd", 32)+`", limits: 10000 tokens in total, output: fit }`+"\n")
	of := func(key, members string) []string {
		return []string{"-config", config, "-key", key, write(key, `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hi"}],`+members+`}`)}
	}
	for name, c := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"a response":          {[]string{"-endpoint", "responses", write("r", `{"model":"gpt-5","input":"Hi","instructions":"Be brief"}`)}, 0, []string{"input     5       exact", "overhead  9", "no limit in the request"}},
		"a completion":        {[]string{"-endpoint", "/v1/completions", write("c", `{"model":"gpt-3.5-turbo-instruct","prompt":["a","b"],"echo":true}`)}, 0, []string{"prompt  2", "at most  32  as the request says", "choices  2   16 tokens each", "besides  4 "}},
		"an embedding":        {[]string{"-endpoint", "embeddings", write("e", `{"model":"text-embedding-3-small","input":[[1,2],[3]]}`)}, 0, []string{"input  3       exact", "at most  0  there is none"}},
		"a picture":           {[]string{"-endpoint", "images/generations", write("p", `{"model":"gpt-image-1","prompt":"a","quality":"low","size":"1024x1024"}`)}, 0, []string{"at most  272", "with 1 picture"}},
		"a picture by piece":  {[]string{"-endpoint", "images/generations", write("d", `{"model":"dall-e-3","prompt":"a","quality":"standard","size":"1024x1024"}`)}, 0, []string{"$0.04 … $0.04"}},
		"speech":              {[]string{"-endpoint", "audio/speech", write("s", `{"model":"tts-1","input":"Hello"}`)}, 0, []string{"with 5 characters", "$0.000075"}},
		"a search":            {[]string{"-endpoint", "responses", write("w", `{"model":"gpt-5","input":"Hi","max_tool_calls":2,"tools":[{"type":"web_search"}]}`)}, 0, []string{"hosted tools  24046   assumed", "of it at most $0.02 for tools that the provider runs"}},
		"a recording":         {[]string{"-endpoint", "audio/transcriptions", "-form", "model=whisper-1", "-form", "file=@" + write("a.wav", second)}, 0, []string{"1.000 s of audio", "$0.0001 … $0.0001"}},
		"a stream":            {of("alice", `"stream":true`), 0, []string{"at most  4096  no limit in the request: a stream begins with so much, and draws as much again"}},
		"a limit that fits":   {of("bob", `"max_tokens":20000`), 0, []string{"at most  9992  the request's limit would be lowered"}},
		"an unknown endpoint": {[]string{"-endpoint", "batches", "x"}, 2, []string{`there is no endpoint "batches"`, "chat/completions, responses"}},
		"a form for JSON":     {[]string{"-form", "a=b", "x"}, 2, []string{"takes no form"}},
		"a file for a form":   {[]string{"-endpoint", "audio/translations", "x"}, 2, []string{"takes a form", "-form NAME=VALUE"}},
		"a field of nothing":  {[]string{"-form", "a"}, 2, []string{"write NAME=VALUE"}},
		"a missing file":      {[]string{"-endpoint", "audio/translations", "-form", "file=@" + filepath.Join(dir, "none")}, 1, []string{"no such file"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			code := dispatch(t.Context(), append([]string{"estimate"}, c.args...), &out, &out)
			for _, says := range c.says {
				if code != c.code || !strings.Contains(out.String(), says) {
					t.Errorf("exit code %d, want %d; no %q in\n%s", code, c.code, says, &out)
				}
			}
		})
	}
}
