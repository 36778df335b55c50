package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// pageOfSDK calls the proxy with the official client, as a page in a browser does, and tells its server what it saw. What the
// client keeps to itself, a plain fetch reads: the headers.
const pageOfSDK = `<!doctype html><title>page</title><script type="module">
import OpenAI from "/openai/index.mjs";
const base = %q, model = %q, seen = {};
const client = new OpenAI({ baseURL: base, apiKey: %q, dangerouslyAllowBrowser: true, maxRetries: 0 });
const ask = (more) => ({ model, messages: [{ role: "user", content: "hi" }], max_tokens: 50, ...more });
async function step(name, run) {
	try { seen[name] = await run(); } catch (e) { seen[name] = (e.status ?? "no status") + " " + (e.code ?? e.name) + (e.headers?.get("retry-after-ms") > 0 ? ", later" : ""); }
}
await step("plain", async () => (await client.chat.completions.create(ask())).choices[0].message.content);
await step("stream", async () => {
	let text = "";
	for await (const chunk of await client.chat.completions.create(ask({ stream: true }))) text += chunk.choices[0]?.delta?.content ?? "";
	return text;
});
await step("header", async () => {
	const { response } = await client.chat.completions.create(ask()).withResponse();
	return [...response.headers.keys()].filter((name) => /^x-(ratelimit|tokenfare)/.test(name)).sort().join(" ");
});
await step("refused", async () => client.chat.completions.create(ask({ max_tokens: 985 })));
await step("stranger", async () => new OpenAI({ baseURL: base, apiKey: "tf-nobody", dangerouslyAllowBrowser: true, maxRetries: 0 }).models.list());
await fetch("/seen", { method: "POST", body: JSON.stringify(seen) });
</script>`

// TestAPageInABrowser: pages of the origins that are named call with the official client, and others do not. It runs under
// TOKENFARE_TEST=all only: it needs Chromium and npm's packages.
func TestAPageInABrowser(t *testing.T) {
	t.Parallel()
	if os.Getenv("TOKENFARE_TEST") != "all" {
		t.Log("not run: set TOKENFARE_TEST=all where there is Chromium, as test/all.sh does")
		return
	}
	up := fakeopenai.New(t)
	up.Always(model, fakeopenai.Answer{Text: words(5)})
	told := make(chan map[string]string, 1)
	pages := http.NewServeMux()
	named, other := httptest.NewUnstartedServer(pages), httptest.NewUnstartedServer(pages)
	origin, others := "http://"+named.Listener.Addr().String(), "http://"+other.Listener.Addr().String()
	p := harness.Start(t, harness.Config{
		Upstream: up.URL, Limits: []string{"1000 tokens each day"}, More: "cors: [\"" + origin + "\"]\n",
	})
	pages.Handle("/openai/", http.StripPrefix("/openai/", http.FileServer(http.Dir("node/node_modules/openai"))))
	pages.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, pageOfSDK, p.URL+"/v1", model, harness.Alice)
	})
	pages.HandleFunc("/seen", func(_ http.ResponseWriter, r *http.Request) {
		var seen map[string]string
		if err := json.NewDecoder(r.Body).Decode(&seen); err != nil {
			t.Error(err)
		}
		told <- seen
	})
	named.Start()
	t.Cleanup(named.Close)
	other.Start()
	t.Cleanup(other.Close)

	said, unreachable := strings.Join(words(5), ""), "no status Error"
	for _, c := range []struct {
		origin string
		want   map[string]string
	}{
		{origin, map[string]string{
			"plain": said, "stream": said, "refused": "429 insufficient_quota, later", "stranger": "401 invalid_api_key",
			"header": "x-ratelimit-limit-tokens x-ratelimit-remaining-tokens x-ratelimit-reset-tokens x-tokenfare-budget x-tokenfare-cost x-tokenfare-id x-tokenfare-reserved",
		}},
		{others, map[string]string{"plain": unreachable, "stream": unreachable, "refused": unreachable, "stranger": unreachable, "header": unreachable}},
	} {
		browse(t, c.origin)
		select {
		case seen := <-told:
			if diff := cmp.Diff(c.want, seen); diff != "" {
				t.Errorf("what a page of %s saw (-want +got):\n%s", c.origin, diff)
			}
		case <-time.After(harness.Patience):
			t.Fatalf("a page of %s tells nothing", c.origin)
		}
		up.WantCalls(t, 3) // none by the page of another origin
	}
}

// browse opens a page in Chromium, for as long as the test runs.
func browse(t *testing.T, page string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-port=0", page)
	if err := cmd.Start(); err != nil {
		t.Fatalf("chromium: %v", err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}
