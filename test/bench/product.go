package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The callers' keys. What spentKey may spend in total is gone after a few calls.
const (
	key      = "tf-bench-b1a7f3c2d4e5"
	spentKey = "tf-bench-0d9e8c7b6a51"
)

// config is the product with everything on and nothing in the way: the budgets of the first key are as large as they come. More is
// appended.
func config(upstream, more string) string {
	return fmt.Sprintf(`listen: "127.0.0.1:0"
admin: { listen: "localhost:0" }
upstreams:
  mock: { url: "http://%s/v1", key: "sk-bench-upstream" }
models:
  "gpt-*": { upstream: mock }
keys:
  busy:
    hash: %q
    limits:
      - 100b tokens per minute
      - 1b requests in any minute
      - $1m each month
  spent:
    hash: %q
    limits: [10k tokens in total]
%s`, upstream, hash(key), hash(spentKey), more)
}

// hash is a key as a configuration holds it.
func hash(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// startProduct runs the program in front of the mock, in a directory of its own. Its log is read to its end and thrown away.
func startProduct(binary, dir, upstream, more string) (*process, error) {
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte(config(upstream, more)), 0o600); err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(binary, "serve", "-config", path), done: make(chan struct{})}
	p.cmd.Dir = dir
	log, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	watchdog := time.AfterFunc(patience, func() { p.cmd.Process.Kill() }) //nolint:errcheck // if it is gone already, good
	lines := bufio.NewReader(log)
	addr, said := awaitListening(lines)
	watchdog.Stop()
	go func() {
		io.Copy(io.Discard, lines) //nolint:errcheck // it ends with the program
		p.wait()
	}()
	if addr == "" {
		p.stop() //nolint:errcheck // that it did not start is what there is to say
		return nil, fmt.Errorf("the program did not start to listen; it said:\n%s", said)
	}
	p.addr = addr
	return p, nil
}

// awaitListening returns the address of the proxy's listener, or nothing and what the log says instead.
func awaitListening(log *bufio.Reader) (addr, said string) {
	for {
		line, err := log.ReadBytes('\n')
		said += string(line)
		var l struct{ Msg, Listener, Addr string }
		if json.Unmarshal(line, &l) == nil && l.Msg == "listening" && l.Listener == "proxy" {
			return l.Addr, ""
		}
		if err != nil {
			return "", said
		}
	}
}

// buildProduct builds the program into dir.
func buildProduct(ctx context.Context, dir string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("find the module; run this inside of it: %w", err)
	}
	path := filepath.Join(dir, "tokenfare")
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", path, "./cmd/tokenfare")
	build.Dir = strings.TrimSpace(string(root))
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build ./cmd/tokenfare: %w\n%s", err, out)
	}
	return path, nil
}

// useUp spends the whole of spentKey's budget.
func useUp(t *target) error {
	w := workload{prompt: 1_000, spent: true}
	c, err := dial(t, &w)
	if err != nil {
		return err
	}
	defer c.close()
	const most = 1000
	for range most {
		// The answers are longer than this limit, so that what is left in the end is not worth a call.
		status, body, err := c.send(`"max_completion_tokens":1,`)
		switch {
		case err != nil:
			return err
		case status == http.StatusTooManyRequests:
			return checkRefusal(status, body)
		case status != http.StatusOK:
			return fmt.Errorf("use up a budget: status %d: %s", status, body)
		}
	}
	return fmt.Errorf("use up a budget of 10k tokens: %d calls passed and none was refused", most)
}
