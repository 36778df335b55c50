package soak

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/proxy/limit"
	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// Limits that are looked at one by one.
const (
	windowLimit = "8 requests in any 2 seconds"
	bucketLimit = "300 tokens per second, burst 600"
	smallLimit  = "6000 tokens in total"
	pennyLimit  = "$0.004 in total"
	fewLimit    = "2 at once"
)

// limitsOf are budgets of every kind and unit.
var limitsOf = map[string][]string{
	"key steady":   {"100m tokens per minute", "$5000 each month", "10b tokens in total", "60 at once", "100k tokens per request"},
	"key watched":  {"9b output tokens each day", "100m requests in total, observe only", "1b tokens per hour, burst 2b", "7 requests in any hour, observe only", "90b uncached input tokens each week"},
	"key windowed": {windowLimit, "$2000 each week"},
	"key bucket":   {bucketLimit, "90b tokens each quarter"},
	"key small":    {smallLimit, "100 tokens per request on gpt-4.1*"},
	"key penny":    {pennyLimit},
	"key few":      {fewLimit, "1b requests each quarter"},
	"group all":    {"$50000 each month", "100b tokens in total", "10m requests in any minute"},
	"group pair":   {"80b input tokens each month", "500 at once"},
	"upstream up":  {"$90000 each day", "100b tokens in total on gpt-4o*"},
}

// budget is a limit of an owner, as the ledger and the budgets name it.
type budget struct {
	owner string
	limit limit.Limit
}

func (b budget) name() string { return b.owner + ": " + b.limit.ID() }

func budgets(t testing.TB) (list []budget) {
	t.Helper()
	for owner, sentences := range limitsOf {
		for _, text := range sentences {
			l, err := limit.Parse(text, time.UTC)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, budget{owner, l})
		}
	}
	return list
}

// shop is the program, and what it is started with.
type shop struct {
	port    int
	ledger  string
	secrets map[string]string
	up      *upstream
	program *harness.Program

	events  []string // what was done to it, in a letter each
	bad     int      // configurations with mistakes it was given
	errors  []string // lines of the log that nobody expected
	drains  int      // that cut calls, by the log
	rebuilt int64    // milliseconds that the budgets took at most, when a program began
	stalls  int      // of the ledger's disk
	base    figures  // of a program that was not asked for anything yet
}

func openShop(t testing.TB, up *upstream) *shop {
	t.Helper()
	s := &shop{port: harness.Port(t), ledger: filepath.Join(t.TempDir(), "usage.db"), secrets: map[string]string{}, up: up}
	for _, key := range keys {
		s.secrets[key] = "tf-secret-of-" + key
	}
	s.program = harness.StartYAML(t, s.yaml(""))
	s.base = measure(t, s.program)
	s.base.live = liveHeap(t, s.program)
	return s
}

func (s *shop) address() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// yaml is the configuration; more is a member of key steady.
func (s *shop) yaml(more string) string {
	quoted := func(owner string) string { return `"` + strings.Join(limitsOf[owner], `", "`) + `"` }
	trust := ""
	if s.up.caFile != "" {
		trust = ", " + fakeopenai.Trust(s.up.caFile)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "listen: %q\nadmin: { listen: \"127.0.0.1:0\" }\nupstreams:\n  up: { url: %q, key: %q, limits: [%s]%s }\n  gone: { url: %q, key: %q }\n",
		s.address(), s.up.http.URL+"/v1", harness.UpstreamKey, quoted("upstream up"), trust, s.up.gone, harness.UpstreamKey)
	b.WriteString("models:\n" + pricedModels("up", "gpt-4o-mini", "gpt-5-mini", "text-embedding-3-small") + pricedModels("gone", "gpt-4.1-nano"))
	fmt.Fprintf(&b, "  \"gpt-4o\": { upstream: up, default_output_tokens: 24, %s }\nkeys:\n", prices["gpt-4o"].yaml())
	for _, key := range keys {
		extra := ""
		if key == "steady" {
			extra = more
		}
		fmt.Fprintf(&b, "  %s: { hash: %q, limits: [%s]%s }\n", key, harness.Hash(s.secrets[key]), quoted("key "+key), extra)
	}
	fmt.Fprintf(&b, "groups:\n  all: { keys: [\"*\"], limits: [%s] }\n  pair: { keys: [steady, bucket], limits: [%s] }\n", quoted("group all"), quoted("group pair"))
	silence := "2s"
	if harness.Race { // nobody is to be cut off because the machine is slow
		silence = "6s"
	}
	fmt.Fprintf(&b, "ledger: { url: %q }\ntimeouts: { headers: %s, idle: %s, drain: 800ms, draw: 2s }\n", "sqlite:"+s.ledger, silence, silence)
	return b.String()
}

// reload gives the program another configuration: one in which a limit is raised for a while, or one with a mistake.
func (s *shop) reload(t testing.TB, r *rand.Rand) {
	t.Helper()
	switch r.IntN(3) {
	case 0:
		s.events, s.bad = append(s.events, "bad configuration"), s.bad+1
		s.program.Rewrite(t, s.yaml("")+"nonsense: [\n")
	case 1:
		s.events = append(s.events, "extra")
		s.program.Rewrite(t, s.yaml(`, extra: ["+$7 each month until 2199-01-01"]`))
	default:
		s.events = append(s.events, "reload")
		s.program.Rewrite(t, s.yaml("")+"help: Ask somebody.\n")
	}
	s.program.Signal(t, syscall.SIGHUP)
}

// restart lets the program end, in an orderly way or not, and starts it again.
func (s *shop) restart(t testing.TB, c *clients, kill bool) {
	t.Helper()
	if kill {
		s.events = append(s.events, "kill -9")
		c.kill()
		s.program.Kill(t)
	} else {
		s.events = append(s.events, "SIGTERM")
		s.program.Stop(t)
	}
	// What the upstream still does for the one that has ended is not running for the next.
	harness.Eventually(t, "the upstream has noticed", s.up.idle)
	s.readLog(t)
	s.program.Rewrite(t, s.yaml(""))
	s.program = s.program.Restart(t)
}

// readLog looks through what a program that has ended had to say.
func (s *shop) readLog(t testing.TB) {
	t.Helper()
	mistakes := 0
	for line := range strings.Lines(s.program.Stderr()) {
		switch {
		case strings.Contains(line, "configuration not reloaded"):
			mistakes++
		case strings.Contains(line, "drain time is over"):
			s.drains++
		case strings.Contains(line, "budgets rebuilt from the ledger"):
			var took struct {
				Ms int64 `json:"took_ms"`
			}
			if err := json.Unmarshal([]byte(line), &took); err != nil {
				t.Error(err)
			}
			s.rebuilt = max(s.rebuilt, took.Ms)
		case strings.Contains(line, "it has not answered for"):
			s.stalls++ // the disk is busy with something else; calls that are refused for it count among those that failed for nothing
		case strings.Contains(line, `"msg":"upstream fails"`): // as it is asked to
		case strings.Contains(line, `"level":"WARN"`) && (strings.Contains(line, "unfinished_calls") || strings.Contains(line, `"msg":"config"`)):
		case strings.Contains(line, `"level":"ERROR"`), strings.Contains(line, `"level":"WARN"`), !strings.HasPrefix(line, "{"):
			s.errors = append(s.errors, line)
		}
	}
	if mistakes > 2*s.bad { // by the signal, and perhaps by a look at the content as well
		t.Errorf("%d configurations were refused, and %d had mistakes", mistakes, s.bad)
	}
	s.bad = 0
}
