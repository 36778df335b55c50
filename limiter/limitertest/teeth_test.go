package limitertest

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// brokenAs names the bug that a child of this test process is to have.
const brokenAs = "LIMITERTEST_BROKEN_AS"

// unseenByHistories are the bugs that only stories notice: what goes wrong is
// an error that is missing, or wants goroutines or places that histories do
// not go to.
var unseenByHistories = map[bug]string{
	checksThenCharges: "histories have one goroutine",
	takesForeign:      "histories have one limiter",
}

// TestTeeth runs the suite, in a child of this process, on limiters that are
// broken in one way each, and wants it to fail: told by stories, and found by
// histories. That the sound one passes is for TestLogged to show.
func TestTeeth(t *testing.T) {
	for b := sound + 1; b < bugs; b++ {
		t.Run(b.String(), func(t *testing.T) {
			t.Parallel()
			for part, run := range map[string]string{"stories": "^TestBroken$/^(stories|callers)$", "histories": "^TestBroken$/^histories$"} {
				if _, unseen := unseenByHistories[b]; part == "histories" && (unseen || usualHistories < 1000) {
					continue
				}
				child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", run, "-test.failfast", "-test.timeout", "120s",
					"-limiter.histories", "1000", "-rapid.nofailfile", "-rapid.shrinktime", "0s")
				child.Env = append(os.Environ(), brokenAs+"="+strconv.Itoa(int(b)))
				out, err := child.CombinedOutput()
				failed := regexp.MustCompile(`--- FAIL: \S+`).FindAllString(string(out), -1)
				if len(failed) == 0 {
					t.Errorf("%s: nothing noticed (%v):\n%s", part, err, out)
				} else {
					t.Logf("%s: %s", part, failed[len(failed)-1])
				}
			}
		})
	}
}

// TestBroken is what the children run.
func TestBroken(t *testing.T) {
	if b, err := strconv.Atoi(os.Getenv(brokenAs)); err == nil {
		Run(t, loggedHarness(bug(b)))
	}
}
