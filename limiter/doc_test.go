package limiter_test

import (
	"os"
	"strings"
	"testing"
)

// TestTenLines holds the example against the package's first ten lines: what is
// shown is what runs.
func TestTenLines(t *testing.T) {
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	_, shown, _ := strings.Cut(read("doc.go"), "# In ten lines\n")
	shown, _, _ = strings.Cut(shown, "\n// # ")
	_, runs, _ := strings.Cut(read("example_test.go"), "func Example_tenLines() {\n")
	runs, _, _ = strings.Cut(runs, "\n}\n")
	lines := 0
	for line := range strings.Lines(shown) {
		line, ok := strings.CutPrefix(line, "//\t")
		if line = strings.TrimSpace(line); !ok || line == "..." {
			continue
		}
		var found bool
		if _, runs, found = strings.Cut(runs, line+"\n"); !found {
			t.Errorf("the example does not go on with %q", line)
		}
		lines++
	}
	if lines < 8 || lines > 10 {
		t.Errorf("%d lines", lines)
	}
}
