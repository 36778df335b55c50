package harness

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPostgresDiesWithTheTests kills a test process while its server runs: this test, in a process of its own.
func TestPostgresDiesWithTheTests(t *testing.T) {
	const inside = "HARNESS_TEST_TO_BE_KILLED"
	if os.Getenv(inside) != "" {
		if pg, ok := StartPostgres(t); ok {
			fmt.Fprintln(os.Stdout, pg.dir)
			<-pg.exited
		}
		return
	}
	if _, ok := installed(t, debian); !ok {
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), inside+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	dir := strings.TrimSpace(line)
	if err != nil || !filepath.IsAbs(dir) {
		cmd.Process.Kill()
		t.Fatalf("the inner test printed %q, %v", line, err)
	}
	defer os.RemoveAll(dir)
	mark := filepath.Join(dir, "data", "postmaster.pid") // removed by a server that ends by itself
	if _, err := os.Stat(mark); err != nil {
		t.Error(err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	Eventually(t, "the server of the killed tests has ended", func() bool {
		_, err := os.Stat(mark)
		return os.IsNotExist(err)
	})
}
