package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// variant is an upstream that speaks the OpenAI API in a way of its own, and what becomes of one call to it.
type variant struct {
	name    string
	extra   string // members of the upstream's configuration
	models  string // of the configuration; "" serves gpt-*
	path    string // of the API on the upstream; "" means /v1
	members string // of the request
	accept  string // Accept-Encoding of the client
	answer  func(c *fakeopenai.Call) fakeopenai.Answer

	status  int                              // that the client gets; 0 means 200
	body    func(sent string) string         // that the client gets of what the upstream sent; nil: all of it
	charged func(c *fakeopenai.Call) int64   // tokens
	basis   string                           // what the charge rests on, as tokenfare_endings_total says
	request func(*testing.T, map[string]any) // checks what the upstream was sent; may be nil
}

const (
	quietStream = `"stream": true, "max_tokens": 200`
	askedStream = quietStream + `, "stream_options": {"include_usage": true}`
)

// says is an answer of a variant that treats all requests alike.
func says(a fakeopenai.Answer) func(*fakeopenai.Call) fakeopenai.Answer {
	return func(*fakeopenai.Call) fakeopenai.Answer { return a }
}

// tokens is a charge of the prompt and so many more tokens.
func tokens(n int64) func(*fakeopenai.Call) int64 {
	return func(c *fakeopenai.Call) int64 { return c.Prompt + n }
}

func free(*fakeopenai.Call) int64 { return 0 }

// withoutUsage removes the events of what an upstream sent that the client did not ask for.
func withoutUsage(sent string) string {
	kept, _ := withhold(sent, true)
	return kept
}

func TestUpstreamVariants(t *testing.T) {
	t.Parallel()
	for _, v := range allVariants() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			v.check(t)
		})
	}
}

func allVariants() []variant {
	return slices.Concat(azureVariants(), serverVariants(), framingVariants(), gzipVariants(), brokenVariants())
}

func (v variant) check(t *testing.T) {
	up := fakeopenai.New(t)
	up.Script(v.answer)
	base := up.URL
	if v.path != "" {
		base = strings.TrimSuffix(base, "/v1") + v.path
	}
	p := harness.Start(t, harness.Config{
		Upstream: base, UpstreamExtra: v.extra, Models: v.models, Limits: []string{fmt.Sprintf("%d tokens in total", total)},
	})
	request := harness.Request(t, http.MethodPost, p.URL+"/v1/chat/completions", harness.Alice, ask(v.members))
	if v.accept != "" {
		request.Header.Set("Accept-Encoding", v.accept)
	}
	resp, err := p.HTTP.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	got := harness.Read(resp)
	if got.Status != max(v.status, http.StatusOK) && v.status != 0 || v.status == 0 && got.Status != http.StatusOK {
		t.Fatalf("status %d: %s", got.Status, got.Body)
	}
	want := up.Last(t).Sent()
	if v.body != nil {
		want = v.body(want)
	}
	if got.Body != want {
		t.Errorf("body (-want +got):\n%s", cmp.Diff(want, got.Body))
	}
	if coding := got.Header.Get("Content-Encoding"); coding != "" {
		t.Errorf("the answer is packed: %q", coding)
	}
	p.WantIdle(t)
	if charged, want := total-p.Remaining(t, "alice"), v.charged(up.Last(t)); charged != want {
		t.Errorf("charged %d, want %d (prompt %d)", charged, want, up.Last(t).Prompt)
	}
	if n, _ := p.Metrics(t).Sum("tokenfare_endings_total", "basis", v.basis); n != 1 {
		t.Errorf("the charge does not rest on %q:\n%v", v.basis, p.Metrics(t).Text)
	}
	if v.request != nil {
		var sent map[string]any
		if err := json.Unmarshal(up.Last(t).Body, &sent); err != nil {
			t.Fatal(err)
		}
		v.request(t, sent)
	}
}

// lacks fails the test if the upstream was sent one of these members.
func lacks(names ...string) func(*testing.T, map[string]any) {
	return func(t *testing.T, sent map[string]any) {
		t.Helper()
		for _, name := range names {
			if _, there := sent[name]; there {
				t.Errorf("the upstream was sent %s", name)
			}
		}
	}
}
