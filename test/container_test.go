package test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// TestContainerImage builds the program by the Dockerfile's own command and runs it as the image would: in a root that holds
// nothing else but a CA bundle and a configuration, as a user without rights, with a time zone that the program must bring along.
func TestContainerImage(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		if os.Getenv("TOKENFARE_TEST") == "all" {
			t.Fatal("changing the root needs root: run the test command as root")
		}
		t.Log("not run: changing the root needs root")
		return
	}
	root := t.TempDir()
	binary := filepath.Join(root, "tokenfare")
	buildAsDockerfile(t, binary)
	if out, err := exec.Command("go", "version", "-m", binary).CombinedOutput(); err != nil || !bytes.Contains(out, []byte("CGO_ENABLED=0")) {
		t.Fatalf("not a static build: %v\n%s", err, out)
	}

	fake := fakeopenai.New(t)
	listen, admin := freeAddress(t), freeAddress(t)
	config := harness.Config{Upstream: fake.URL, Limits: []string{"1000 tokens in total"}}.YAML()
	config = strings.Replace(config, "127.0.0.1:0", listen, 1)
	config = strings.Replace(config, "127.0.0.1:0", admin, 1)
	config += "timezone: Europe/Berlin\n"
	if err := os.WriteFile(filepath.Join(root, "config.yaml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	for dir := root; dir != "/"; dir = filepath.Dir(dir) { // the user without rights must be able to come in
		if err := os.Chmod(dir, 0o755); err != nil {
			break
		}
	}

	data := filepath.Join(root, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(data, 65532, 65532); err != nil {
		t.Fatal(err)
	}
	inside := func(args ...string) *exec.Cmd {
		cmd := exec.Command("/tokenfare", args...)
		cmd.Dir, cmd.Env = "/", []string{"TOKENFARE_DATA=/data"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
		return cmd
	}
	var log bytes.Buffer
	serve := inside("serve", "-config", "/config.yaml")
	serve.Stderr = &log
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := false
	defer func() {
		if !stopped {
			serve.Process.Kill()
			serve.Wait()
		}
	}()
	var health []byte
	harness.Eventually(t, "the health check succeeds", func() bool {
		out, err := inside("health", "-config", "/config.yaml").CombinedOutput()
		health = out
		return err == nil
	})
	if strings.TrimSpace(string(health)) != "ok" {
		t.Errorf("health says %q", health)
	}

	r, err := http.NewRequest(http.MethodPost, "http://"+listen+"/v1/chat/completions", strings.NewReader(ask(`"max_tokens": 20`)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+harness.Alice)
	resp, err := (&http.Client{Timeout: time.Minute}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("a call through the container: %s", resp.Status)
	}
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := serve.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, log.String())
	}
	stopped = true
}

// buildAsDockerfile runs the Dockerfile's go build line, with another output.
func buildAsDockerfile(t *testing.T, output string) {
	t.Helper()
	dockerfile, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^RUN (CGO_ENABLED=0 go build .*) -o /out/tokenfare (\./cmd/tokenfare)$`).FindStringSubmatch(string(dockerfile))
	if line == nil {
		t.Fatal("the Dockerfile has no build line of the form that this test knows")
	}
	build := exec.Command("sh", "-c", fmt.Sprintf("%s -buildvcs=false -o '%s' %s", line[1], output, line[2]))
	build.Dir = ".."
	build.Env = append(os.Environ(), "VERSION=v0.0.0-test")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(output, "version").CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "tokenfare v0.0.0-test ") {
		t.Errorf("version says %q (%v)", out, err)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
