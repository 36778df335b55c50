package test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// A change is noticed without a signal; a file that was refused is watched, too, in all its parts, so mending any of them is
// enough; and what is refused changes nothing, not even in part.
func TestReloadByContent(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	dir := t.TempDir()
	part := filepath.Join(dir, "part.yaml")
	write := func(text string) {
		if err := os.WriteFile(part, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := harness.Config{Upstream: up.URL, Limits: []string{"1000 tokens in total"}}
	p := harness.StartYAML(t, config.YAML())

	write("keys:\n  carol: { hash: nonsense, limits: none }\n")
	config.Limits, config.More = []string{"10 tokens in total"}, "include: "+part+"\n"
	p.Rewrite(t, config.YAML())
	p.AwaitLog(t, "the bad part is reported", func(l harness.Line) bool {
		return l.String("level") == "ERROR" && strings.Contains(l.String("error"), "part.yaml:2")
	})
	if left := p.Remaining(t, "alice"); left != 1000 {
		t.Errorf("a refused file changed alice's budget: %d left of 1000", left)
	}
	write("keys:\n  carol: { hash: \"" + harness.Hash("tf-carol") + "\", limits: none }\n")
	harness.Eventually(t, "carol's key works", func() bool { return p.Chat(t, "tf-carol", ask(`"max_tokens": 5`)).Status == http.StatusOK })
	if left := p.Remaining(t, "alice"); left != 10 {
		t.Errorf("the mended file's limit is not in force: %d left of 10", left)
	}
}

// SIGHUP asks for a reload; it never ends the program, not even while it drains.
func TestHangupDuringTheDrain(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	release := make(chan struct{})
	up.Always(model, fakeopenai.Answer{Text: words(20), Pause: release, PauseAt: 5})
	p := harness.Start(t, harness.Config{Upstream: up.URL})
	resp := p.Open(t.Context(), t, harness.Alice, ask(`"stream": true`, `"max_tokens": 50`))
	readEvents(t, resp.Body, 5)
	p.Terminate(t)
	p.AwaitLog(t, "draining", func(l harness.Line) bool { return l.String("msg") == "draining" })
	for range 3 {
		p.Signal(t, syscall.SIGHUP)
	}
	close(release)
	if rest := harness.Read(resp); rest.Err != nil || !strings.HasSuffix(rest.Body, "data: [DONE]\n\n") {
		t.Errorf("the running stream was cut: %v %q", rest.Err, rest.Body)
	}
	p.WantExit(t, 0)
}
