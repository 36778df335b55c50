package proxy

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/limiter"
	"github.com/tokenfare/tokenfare/proxy/wire"
	"github.com/tokenfare/tokenfare/test/pages"
)

const wirePage = "../docs/wire.md"

// TestWireDocPaths: every route there is has its row, with its methods, and no other has.
func TestWireDocPaths(t *testing.T) {
	page := pages.Read(t, wirePage)
	documented := map[string]string{}
	add := func(path, methods string) {
		if documented[path] != "" {
			t.Errorf("%s has two rows", path)
		}
		documented[path] = methods
	}
	for _, row := range page.Table(t, "| path | methods |") {
		methods := pages.Code(row[1])
		slices.Sort(methods)
		add(strings.Trim(row[0], "`"), strings.Join(methods, " "))
	}
	for _, row := range page.Table(t, "| endpoint | streamed by |") {
		path := strings.Trim(row[0], "`")
		if others := documented[path]; others != "" { // what is stored of it is read there
			delete(documented, path)
			add(path, others+" "+http.MethodPost)
			continue
		}
		add(path, http.MethodPost)
	}

	s, err := New(Options{Limiter: limiter.NewMemory(), Estimator: cost.NewEstimator()}, &Policy{catalog: &cost.Catalog{}})
	if err != nil {
		t.Fatal(err)
	}
	routes := map[string][]string{}
	if err := chi.Walk(s.router, func(method, path string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		routes[path] = append(routes[path], method)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	served := map[string]string{}
	for path, methods := range routes {
		slices.Sort(methods)
		served[path] = strings.Join(methods, " ")
	}
	if diff := cmp.Diff(served, documented); diff != "" {
		t.Errorf("paths (-served +documented):\n%s", diff)
	}
	for _, e := range wire.Endpoints() {
		if !strings.Contains(served[string(e)], http.MethodPost) {
			t.Errorf("%s is not served", e)
		}
	}
}

// TestWireDocUnserved: every path that is refused with a reason has its place in the table, and no other has.
func TestWireDocUnserved(t *testing.T) {
	var documented, refused []string
	for _, row := range pages.Read(t, wirePage).Table(t, "| path | why |") {
		documented = append(documented, pages.Code(row[0])...)
	}
	for _, u := range unserved {
		refused = append(refused, u.prefix)
	}
	slices.Sort(documented)
	slices.Sort(refused)
	if diff := cmp.Diff(refused, documented); diff != "" {
		t.Errorf("paths (-refused +documented):\n%s", diff)
	}
}

// TestWireDocHeaders: what pages of other origins may read is listed, all of it and nothing else.
func TestWireDocHeaders(t *testing.T) {
	var documented []string
	for _, row := range pages.Read(t, wirePage).Table(t, "| headers |") {
		documented = append(documented, pages.Code(row[0])...)
	}
	if diff := cmp.Diff(exposed, documented); diff != "" {
		t.Errorf("headers (-exposed +documented):\n%s", diff)
	}
}

// TestWireDocOutput: what a key's output does with its three kinds of calls is what is decided of them.
func TestWireDocOutput(t *testing.T) {
	page := pages.Read(t, wirePage)
	outputs := []Output{DrawOutput, StrictOutput, FitOutput}
	rows := page.Table(t, "| call | `output: draw` | `output: strict` | `output: fit` |")
	if len(rows) != 4 {
		t.Fatalf("%d kinds of calls, want 4", len(rows))
	}
	for i, output := range outputs {
		for k, kind := range []struct {
			endpoint  wire.Endpoint
			reasoning bool
		}{{endpoint: wire.Chat}, {endpoint: wire.Chat, reasoning: true}, {endpoint: wire.Completions}} {
			want := "is given a limit"
			x := &exchange{endpoint: kind.endpoint, stream: true, caller: &caller{output: output}, attempt: attempt{facts: cost.Model{Reasoning: kind.reasoning}}}
			if x.mayDraw() {
				want = "draws as it goes"
			}
			if rows[k][i+1] != want {
				t.Errorf("%s, %s: %q, want %q", rows[k][0], kind.endpoint, rows[k][i+1], want)
			}
		}
		want := "is refused"
		if output == FitOutput {
			want = "is lowered, to no less than 1,024 tokens"
		}
		if rows[3][i+1] != want || leastFit != 1024 {
			t.Errorf("a limit that does not fit: %q, want %q", rows[3][i+1], want)
		}
	}
}
