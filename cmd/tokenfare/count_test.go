package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCount(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"hello.txt": "hello world", "empty": "", "run": strings.Repeat("a", 100_000), "bad": "a\xff\xfez",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args, stdin  string
		code         int
		stdout, says string
	}{
		{args: "hello.txt", stdout: "       2 hello.txt\n"},
		{args: "hello.txt empty run", stdout: "       2 hello.txt\n       0 empty\n   12500 run\n   12502 total\n"},
		{args: "-", stdin: "hello world", stdout: "       2 -\n"},
		{args: "bad", stdout: "       3 bad\n"},
		{args: "-json hello.txt -", stdin: "<|endoftext|>", stdout: `{"file":"hello.txt","tokens":2,"bytes":11,"encoding":"o200k_base"}` + "\n" +
			`{"file":"-","tokens":7,"bytes":13,"encoding":"o200k_base"}` + "\n"},
		{args: "-model gpt-4 -json hello.txt", stdout: `{"file":"hello.txt","tokens":2,"bytes":11,"encoding":"cl100k_base"}` + "\n"},
		{args: "hello.txt -encoding r50k_base -json", stdout: `{"file":"hello.txt","tokens":2,"bytes":11,"encoding":"r50k_base"}` + "\n"},
		{args: "-model claude-9 hello.txt", stdout: "       2 hello.txt\n", says: `model "claude-9" is not known; counting with o200k_base, which is an estimate`},
		{
			args: "-model claude-9 -json hello.txt", stdout: `{"file":"hello.txt","tokens":2,"bytes":11,"encoding":"o200k_base","guess":true}` + "\n",
			says: "an estimate",
		},
		{args: "-encoding gpt2 -json hello.txt", stdout: `{"file":"hello.txt","tokens":2,"bytes":11,"encoding":"r50k_base"}` + "\n"},
		{args: "-encoding o200k_harmony hello.txt", stdout: "       2 hello.txt\n"},
		{args: "-model gpt-3.5 -json hello.txt", stdout: `{"file":"hello.txt","tokens":2,"bytes":11,"encoding":"cl100k_base"}` + "\n"},
		{args: "-model cushman-codex -json hello.txt", stdout: `{"file":"hello.txt","tokens":2,"bytes":11,"encoding":"p50k_base"}` + "\n"},
		{args: "none hello.txt", code: 1, stdout: "       2 hello.txt\n       2 total\n", says: "none"},
		{args: "-encoding o300k_base hello.txt", code: 1, says: "o200k_base"},
		{args: "-encoding o200k_base -model gpt-4 hello.txt", code: 2, says: "give one of them"},
		{args: "", code: 2, says: "standard input"},
	} {
		var stdout, stderr bytes.Buffer
		code := runCount(strings.Fields(c.args), strings.NewReader(c.stdin), &stdout, &stderr)
		if code != c.code || stdout.String() != c.stdout || !strings.Contains(stderr.String(), c.says) || c.says == "" && stderr.Len() > 0 {
			t.Errorf("count %s: %d\n%s%s\nwant %d\n%s%s", c.args, code, &stdout, &stderr, c.code, c.stdout, c.says)
		}
	}
}
