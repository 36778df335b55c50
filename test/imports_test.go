package test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/test/harness"
)

// module is the path of this module.
const module = "github.com/tokenfare/tokenfare"

// arrows says what each package may import besides the standard library: packages of ours by their path in the module,
// others by the path of their module. A package that is not listed fails the test, so that a new room gets its arrows on
// the day it is built.
var arrows = map[string][]string{
	"limiter":                 {},
	"limiter/limitertest":     {"limiter", "pgregory.net/rapid"},
	"limiter/metrics":         {"limiter", "github.com/prometheus/client_golang"},
	"cost":                    {"cost/bpe"},
	"cost/ledger":             {"cost"},
	"cost/ledger/ledgertest":  {"cost", "cost/ledger", "github.com/google/go-cmp"},
	"cost/ledger/sqlstore":    {"cost", "cost/ledger"},
	"cost/ledger/journal":     {"cost", "cost/ledger"},
	"cost/ledger/sqlite":      {"cost/ledger", "cost/ledger/journal", "cost/ledger/sqlstore", "modernc.org/sqlite", "github.com/gofrs/flock"},
	"cost/ledger/postgres":    {"cost/ledger", "cost/ledger/sqlstore", "github.com/jackc/pgx/v5"},
	"cost/bpe":                {},
	"cost/reconcile":          {"cost"},
	"cost/bpe/gen/classes":    {},
	"cost/bpe/gen/vocab":      {"github.com/pkoukk/tiktoken-go-loader"},
	"proxy/limit":             {"cost"},
	"proxy/wire":              {"cost", "github.com/go-json-experiment/json/jsontext"},
	"proxy/upstream":          {},
	"proxy/httplimit":         {"limiter", "proxy/wire", "github.com/go-chi/chi/v5"},
	"proxy/notify":            {"cost", "cost/ledger", "limiter", "proxy", "proxy/limit", "github.com/prometheus/client_golang"},
	"proxy":                   {"limiter", "limiter/metrics", "cost", "cost/ledger", "proxy/limit", "proxy/wire", "proxy/upstream", "github.com/go-chi/chi/v5", "github.com/rs/cors", "github.com/prometheus/client_golang"},
	"cmd/tokenfare":           {"*"},
	"cmd/tokenfare/simulated": {"cost", "github.com/go-json-experiment/json/jsontext"},
	"test":                    {"*"},
	"test/bench":              {"*"},
	"test/fakeopenai":         {"github.com/pkoukk/tiktoken-go", "github.com/pkoukk/tiktoken-go-loader"},
	"test/figures":            {},
	"test/harness":            {},
	"test/load":               {"*"},
	"test/memnet":             {},
	"test/soak":               {"*"},
	"test/pages":              {},

	"limiter/examples":               {},
	"limiter/examples/gate":          {"limiter"},
	"limiter/examples/lockfree":      {"limiter", "limiter/metrics", "github.com/prometheus/client_golang"},
	"limiter/examples/perclient":     {"limiter"},
	"limiter/examples/slidingwindow": {"limiter"},
}

// withHTTP are the subpackages of proxy that may import net/http; the others know formats, numbers and sentences only.
// proxy/notify posts to webhooks.
var withHTTP = []string{"proxy/upstream", "proxy/admin", "proxy/httplimit", "proxy/notify"}

type goPackage struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

func TestArrows(t *testing.T) {
	for _, pkg := range packages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(pkg.ImportPath, module), "/")
		allowed, known := arrows[name]
		if !known {
			t.Errorf("package %s has no arrows: add it to the table", name)
			continue
		}
		for _, path := range pkg.Imports {
			ours, inside := strings.CutPrefix(path, module+"/")
			switch {
			case strings.HasPrefix(ours, "cmd/") && !strings.HasPrefix(name, "cmd/"):
				t.Errorf("%s imports %s: nothing imports the program", name, path)
			case strings.HasPrefix(ours, "test/") && inside && name != "test" && !strings.HasPrefix(name, "test/"):
				t.Errorf("%s imports %s: the product does not know its tests", name, path)
			case path == "net/http" && strings.HasPrefix(name, "proxy/") && !slices.Contains(withHTTP, name):
				t.Errorf("%s imports net/http: only proxy and %v speak HTTP", name, withHTTP)
			case !standard(path) && !permitted(allowed, path):
				t.Errorf("%s imports %s: it may import only the standard library and %v", name, path, allowed)
			}
		}
		for _, path := range slices.Concat(pkg.TestImports, pkg.XTestImports) {
			if strings.Contains(path, "/testify") || strings.Contains(path, "/gomega") {
				t.Errorf("%s is tested with %s: tests use the standard library and go-cmp", name, path)
			}
		}
	}
}

// packages lists the module's packages with their direct imports.
func packages(t *testing.T) []goPackage {
	t.Helper()
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	list := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	list.Dir = root
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// standard reports whether an import path is of the standard library: those have no dot in their first element.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// permitted reports whether the list allows the path: ours exactly, others with everything below.
func permitted(allowed []string, path string) bool {
	for _, a := range allowed {
		if a == "*" || path == module+"/"+a || path == a || strings.Contains(a, ".") && strings.HasPrefix(path, a+"/") {
			return true
		}
	}
	return false
}
