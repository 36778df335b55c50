package limitbench

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/limiter"
)

// Example is what docs/limiter.md begins with.
func Example() {
	tryAgainIn := func(d time.Duration) error { return errors.New("again in " + d.String()) }
	budgets := limiter.NewMemory()
	clients := budgets.Family(limiter.FamilyOptions{
		Rule: limiter.TokenBucket{Size: 100, Refill: 10, Every: time.Second},
	})
	call := func() error {
		charges := []limiter.Charge{{Budget: clients.Budget("alice"), N: 3}}
		d, err := limiter.TryAcquire(ctx, budgets, charges)
		if err == nil && !d.OK {
			return tryAgainIn(d.RetryAfter)
		}
		return err
	}
	fmt.Println(call())
	// Output: <nil>
}

// TestDocumentedProgram keeps the document's first program the same as the
// example, which is known to run.
func TestDocumentedProgram(t *testing.T) {
	document, err := os.ReadFile("../../docs/limiter.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("docs_test.go")
	if err != nil {
		t.Fatal(err)
	}
	program := regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(document)
	if program == nil {
		t.Fatal("docs/limiter.md has no Go program")
	}
	for line := range strings.Lines(string(program[1])) {
		if line = strings.TrimSpace(line); !strings.Contains(string(source), line) {
			t.Errorf("docs/limiter.md has a line that the example lacks: %s", line)
		}
	}
}
