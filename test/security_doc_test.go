package test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tokenfare/tokenfare/test/harness"
	"github.com/tokenfare/tokenfare/test/pages"
)

var (
	shownBy    = regexp.MustCompile(`^([a-z/]+)\.(Test[A-Z]\w*)$`)
	threatTest = regexp.MustCompile(`(?m)^func (TestThreat\w+)\(t \*testing\.T\)`)
)

// TestSecurityDocTests: every row of the threats has tests, which exist where it says, and every test of a threat is in a row.
func TestSecurityDocTests(t *testing.T) {
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	page := pages.Read(t, "../docs/security.md")
	tests, named := map[string]string{}, map[string]bool{}
	for head, least := range map[string]int{"| attempt |": 27, "| of the account |": 5, "| topic |": 13, "| fault |": 21} {
		rows := page.Table(t, head)
		if len(rows) < least {
			t.Errorf("the table that begins with %q has %d rows, fewer than the %d threats there are", head, len(rows), least)
		}
		threats := map[string]bool{}
		for _, row := range rows {
			if len(row) != 3 || row[0] == "" || row[1] == "" || threats[row[0]] {
				t.Errorf("%q: a row is a threat, once, and what happens, and what shows it", row)
				continue
			}
			threats[row[0]] = true
			names := pages.Code(row[2])
			if len(names) == 0 {
				t.Errorf("%s: no test shows it", row[0])
			}
			for _, name := range names {
				found := shownBy.FindStringSubmatch(name)
				if found == nil {
					t.Errorf("%s: %q is not the name of a package and a test", row[0], name)
					continue
				}
				named[name] = true
				if tests[found[1]] == "" {
					tests[found[1]] = testsOf(t, filepath.Join(root, found[1]))
				}
				if !strings.Contains(tests[found[1]], "\nfunc "+found[2]+"(t *testing.T)") {
					t.Errorf("%s: there is no test %s", row[0], name)
				}
			}
		}
	}
	for _, dir := range []string{"proxy", "proxy/wire", "cmd/tokenfare", "test", "limiter", "cost", "cost/ledger"} {
		for _, found := range threatTest.FindAllStringSubmatch(testsOf(t, filepath.Join(root, dir)), -1) {
			if name := dir + "." + found[1]; !named[name] {
				t.Errorf("%s is in no row", name)
			}
		}
	}
}

// testsOf are the files of a package's tests.
func testsOf(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no tests: %v", dir, err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString("\n")
		all.Write(text)
	}
	return all.String()
}
