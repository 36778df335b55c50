package test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// However many upstreams there are, connections to them that nobody uses take no files from those who are served.
func TestThreatOpenFilesOfManyUpstreams(t *testing.T) {
	const files, most, callers, upstreams = 256, 64, 60, 5
	for _, over := range fakeopenai.Ways[:2] { // over HTTP/2 all calls share a connection
		t.Run(string(over), func(t *testing.T) {
			up := fakeopenai.NewOver(t, over)
			c := harness.Config{Upstream: up.URL, UpstreamExtra: up.Trust(), Models: "  gpt-4o-0: { upstream: fake }\n"}
			var more strings.Builder
			for i := range upstreams - 1 {
				fmt.Fprintf(&more, "  up-%d: { url: %q, key: %s", i+1, up.URL, harness.UpstreamKey)
				if up.CAFile != "" {
					more.WriteString(", " + up.Trust())
				}
				more.WriteString(" }\n")
				c.Models += fmt.Sprintf("  gpt-4o-%d: { upstream: up-%d }\n", i+1, i+1)
			}
			yaml := strings.Replace(c.YAML(), "upstreams:\n", "upstreams:\n"+more.String(), 1)
			p := harness.StartYAMLWithin(t, files, yaml)
			p.HTTP.CloseIdleConnections()
			for i := range upstreams {
				together := make(chan struct{})
				up.Always("", fakeopenai.Answer{Pause: together, PauseAt: fakeopenai.BeforeHeaders})
				var all sync.WaitGroup
				for range callers {
					all.Go(func() {
						r := harness.Request(t, http.MethodPost, p.URL+"/v1/chat/completions", harness.Alice, askModel(fmt.Sprintf("gpt-4o-%d", i), `"max_tokens": 10`))
						resp, err := p.HTTP.Do(r)
						if err != nil {
							t.Error(err)
							return
						}
						if got := harness.Read(resp); got.Status != http.StatusOK {
							t.Errorf("upstream %d: %d %s", i, got.Status, got.Body)
						}
					})
				}
				harness.Eventually(t, "all calls have come, or failed", func() bool { return len(up.Calls()) >= (i+1)*callers || t.Failed() })
				close(together)
				all.Wait()
			}
			if open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.PID())); err == nil && len(open) > callers+most+64 {
				t.Errorf("%d files are open", len(open))
			}
		})
	}
}
