package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/test/harness"
)

// TestVulnerabilitiesFailTheTest: what is found fails, and so does whatever keeps it from being looked for, but for a database that is out of
// reach: that is said, and passes.
func TestVulnerabilitiesFailTheTest(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil && os.Getenv("TOKENFARE_TEST") != "all" {
		t.Logf("not run, as nothing here runs test/all.sh either: %v", err)
		return
	}
	const fetching = `govulncheck: fetching vulnerabilities: `
	for name, c := range map[string]struct {
		status, want int
		says         string
		warns        bool
	}{
		"nothing found":        {0, 0, "", false},
		"found":                {3, 3, "", false},
		"found, and more said": {3, 3, fetching + `Get "https://vuln.go.dev/index/modules.json.gz": dial tcp: no such host`, false},
		"no name":              {1, 0, fetching + `Get "https://vuln.go.dev/index/modules.json.gz": dial tcp: lookup vuln.go.dev on 10.0.0.1:53: no such host`, true},
		"no answer":            {1, 0, fetching + `Get "https://vuln.go.dev/ID/GO-2026-1.json.gz": net/http: TLS handshake timeout`, true},
		"a certificate":        {1, 1, fetching + `Get "https://vuln.go.dev/index/db.json.gz": tls: failed to verify certificate: x509: certificate is not valid`, false},
		"an answer of another": {1, 1, fetching + `HTTP GET /index/db.json returned unexpected status: 403 Forbidden`, false},
		"it does not build":    {1, 1, `govulncheck: loading packages: there are errors with the provided package patterns`, false},
		"it is not there":      {127, 127, "govulncheck: not found", false},
	} {
		t.Run(name, func(t *testing.T) {
			fake := filepath.Join(t.TempDir(), "govulncheck")
			if err := os.WriteFile(fake, fmt.Appendf(nil, "#!/bin/sh\ncat >&2 <<'E'\n%s\nE\nexit %d\n", c.says, c.status), 0o700); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "bash", "vulns.sh")
			cmd.Env = append(os.Environ(), "GOVULNCHECK="+fake)
			out, _ := cmd.CombinedOutput()
			if got := cmd.ProcessState.ExitCode(); got != c.want || strings.Contains(string(out), "NOT CHECKED") != c.warns {
				t.Errorf("it ends with %d, want %d, and says: %s", got, c.want, out)
			}
		})
	}
}

// TestOneGo: tests, and the look for vulnerabilities, are of the Go that go.mod names, and the image is built with the newest patch of that.
func TestOneGo(t *testing.T) {
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	find := func(path, pattern string) string {
		content, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(pattern).FindSubmatch(content)
		if m == nil {
			return ""
		}
		return string(m[1])
	}
	const line = `(?m)^go (\d+\.\d+)(?:\.\d+)?$`
	named := find("go.mod", line)
	if is := runtime.Version(); !strings.HasPrefix(is, "go"+named+".") || named == "" {
		t.Errorf("this is built with %s, and go.mod says go %s", is, named)
	}
	if chain := find("go.mod", `(?m)^toolchain (\S+)$`); chain != "" && chain != runtime.Version() {
		t.Errorf("this is built with %s, and go.mod says toolchain %s", runtime.Version(), chain)
	}
	if image := find("Dockerfile", `(?m)^FROM golang:(\S+) AS build$`); image != named {
		t.Errorf("the image is built with golang:%s, and go.mod says go %s: only of that, the newest patch is taken by itself", image, named)
	}
	for _, bench := range []string{"test/limitbench/go.mod", "test/countbench/go.mod"} {
		if other := find(bench, line); other != named {
			t.Errorf("%s says go %s, and go.mod %s", bench, other, named)
		}
	}
}
