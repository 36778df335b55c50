package test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// A key sees the models it may use, as the upstream lists them, and can use the models it sees.
func TestModels(t *testing.T) {
	t.Parallel()
	up := fakeopenai.New(t)
	up.Models("gpt-4o", "gpt-4o-mini", "gpt-5-mini", "whisper-1")
	p := harness.Start(t, harness.Config{Upstream: up.URL, AliceExtra: "models: [\"gpt-4*\"]"})

	for key, want := range map[string][]string{
		harness.Alice: {"gpt-4o", "gpt-4o-mini"},
		harness.Bob:   {"gpt-4o", "gpt-4o-mini", "gpt-5-mini"},
	} {
		got := p.Get(t, key, "/v1/models").WantOK(t)
		var list struct {
			Object string
			Data   []struct{ ID, Object string }
		}
		if err := json.Unmarshal([]byte(got.Body), &list); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range list.Data {
			names = append(names, m.ID)
			if m.Object != "model" {
				t.Errorf("object %q in the list", m.Object)
			}
		}
		slices.Sort(names)
		if diff := cmp.Diff(want, names); diff != "" || list.Object != "list" {
			t.Errorf("models (-want +got):\n%s", diff)
		}
	}
	p.Get(t, harness.Stranger, "/v1/models").WantError(t, http.StatusUnauthorized)
	up.WantAbsent(t, harness.Alice)

	asked := 0
	for range 20 {
		p.Get(t, harness.Alice, "/v1/models").WantOK(t)
	}
	for _, call := range up.Everything() {
		if strings.HasSuffix(call.Path, "/models") {
			asked++
		}
	}
	if asked > 2 {
		t.Errorf("the upstream was asked for its list %d times, want it cached", asked)
	}

	p.Chat(t, harness.Alice, askModel("gpt-4o")).WantOK(t)
	for _, forbidden := range []string{"gpt-5-mini", "whisper-1", "GPT-4o", " gpt-4o", "ft:gpt-4o:org::x", ""} {
		got := p.Chat(t, harness.Alice, askModel(forbidden))
		if got.Status != http.StatusNotFound && got.Status != http.StatusBadRequest {
			t.Errorf("model %q: status %d, want 404", forbidden, got.Status)
		}
	}
	up.WantCalls(t, 1)
}
