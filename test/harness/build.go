package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// directory holds the binary; it is made once and removed by Main.
var directory = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "tokenfare-test-") })

// unwatched is what the race detector does not look at in the built program: SQLite, which is C made into Go, as in test/all.sh, and the
// counter of tokens, a function of its text and of tables that nobody writes to once they are loaded, which takes ten times as long
// with it, at every start. In the tests of the counter and of the proxy, which load them once, it does look.
var unwatched = []string{"modernc.org/libc/...", "modernc.org/sqlite/lib", "github.com/tokenfare/tokenfare/cost/bpe/..."}

// binary and plain build the program once and return its path: as the tests are built, and without the race detector.
var (
	binary = sync.OnceValues(func() (string, error) { return build("tokenfare", Race) })
	plain  = sync.OnceValues(func() (string, error) { return build("tokenfare-plain", false) })
)

func build(name string, race bool) (string, error) {
	dir, err := directory()
	if err != nil {
		return "", err
	}
	root, err := Root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	args := []string{"build", "-buildvcs=false", "-o", path}
	if race {
		args = append(args, "-race")
		for _, packages := range unwatched {
			args = append(args, "-gcflags="+packages+"=-race=false")
		}
	}
	build := exec.Command("go", append(args, "./cmd/tokenfare")...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build ./cmd/tokenfare: %w\n%s", err, out)
	}
	return path, nil
}

// Main runs the tests, removes what the harness built and stops the Postgres server that they shared. Call it from
// TestMain.
func Main(m *testing.M) int {
	defer func() {
		if dir, err := directory(); err == nil {
			os.RemoveAll(dir)
		}
	}()
	shared.main = true
	status := m.Run()
	if shared.server != nil {
		if err := shared.server.discard(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = max(status, 1)
		}
	}
	return status
}

// Binary is the path of the built program; the test fails when it does not build.
func Binary(t testing.TB) string {
	t.Helper()
	return built(t, binary)
}

func built(t testing.TB, by func() (string, error)) string {
	t.Helper()
	path, err := by()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Root is the directory of go.mod.
func Root() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("ask go for the module's root: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}
