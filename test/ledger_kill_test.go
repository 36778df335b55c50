package test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// kills is how often the program is killed: 200 for a release.
var kills = flag.Int("ledger.kills", 5, "how often TestKills kills the program")

// shop is a program with a ledger and budgets of every kind, its upstream, and clients that never rest.
type shop struct {
	up      *fakeopenai.Server
	path    string // of the ledger
	yaml    string
	port    int
	clients *clients

	lasting   []budgetOf // calendar quotas and totals, of which there is always some left
	refilling []budgetOf // short, so that calls are refused
}

const (
	shopWindow = "3 requests in any 3 seconds"
	shopBucket = "20 tokens per second, burst 130"
)

// openShop writes the configuration and makes clients, which do not call yet.
func openShop(t *testing.T, path, ledger string) *shop {
	t.Helper()
	s := &shop{up: fakeopenai.New(t), path: path, port: harness.Port(t)}
	s.up.Script(anyAnswer)
	keys := map[string]string{}
	limits := map[string][]string{
		"steady":   {"10m tokens per minute", "$50 each month", "100m tokens in total", "40 at once"},
		"watched":  {"9m output tokens each day", "100k requests in total, observe only", "1m tokens per hour, burst 2m", "7 requests in any hour, observe only"},
		"windowed": {shopWindow, "$20 each week"},
		"bucket":   {shopBucket, "90m tokens each quarter"},
	}
	group := []string{"$500 each month", "1b tokens in total", "100k requests in any minute"}
	account := []string{"$900 each day"}
	var lines []string
	for name, list := range limits {
		keys[name] = "tf-secret-of-" + name
		lines = append(lines, fmt.Sprintf("  %s: { hash: %q, limits: [%s] }\n", name, harness.Hash(keys[name]), `"`+strings.Join(list, `", "`)+`"`))
		for _, o := range budgetsOf(t, "key "+name, list...) {
			s.sort(o)
		}
	}
	for _, o := range append(budgetsOf(t, "group everybody", group...), budgetsOf(t, "upstream fake", account...)...) {
		s.sort(o)
	}
	s.yaml = fmt.Sprintf(`listen: "127.0.0.1:%d"
admin: { listen: "127.0.0.1:0" }
upstreams:
  fake: { url: %q, key: %q, limits: ["%s"] }
models:
  "gpt-*": { upstream: fake }
keys:
%sgroups:
  everybody: { keys: ["*"], limits: ["%s"] }
ledger: %s
timeouts: { drain: 5s }
`, s.port, s.up.URL, harness.UpstreamKey, strings.Join(account, `", "`), strings.Join(lines, ""), strings.Join(group, `", "`), ledger)
	s.clients = newClients(fmt.Sprintf("http://127.0.0.1:%d", s.port), keys)
	return s
}

// anyAnswer is one that takes a while.
func anyAnswer(*fakeopenai.Call) fakeopenai.Answer {
	return fakeopenai.Answer{
		Text: words(1 + rand.IntN(18)), Think: time.Duration(rand.IntN(3)*rand.IntN(15)) * time.Millisecond, Pace: time.Duration(rand.IntN(4)) * time.Millisecond,
	}
}

func (s *shop) sort(o budgetOf) {
	switch {
	case strings.Contains(o.text, " each ") || strings.Contains(o.text, "in total"):
		s.lasting = append(s.lasting, o)
	case strings.Contains(o.text, "at once") || strings.Contains(o.text, "observe"):
	default:
		s.refilling = append(s.refilling, o)
	}
}

// killed is what one kill left behind.
type killed struct{ running, missing, unfinished int }

// TestKills kills the program at random instants while real clients call, and starts it again on what is left. Whatever the
// instant: who has anything of an answer is charged for it, nothing is charged twice, what the ledger does not know nobody has
// got anything of, and no budget begins anew.
func TestKills(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage.db")
	s := openShop(t, path, fmt.Sprintf("{ url: %q }", "sqlite:"+path))
	p := harness.StartYAML(t, s.yaml)
	stopNode := s.callByNode(t)
	s.clients.run(3)
	s.clients.awaitCalls(t, 10)
	known := map[string]bool{} // upstream calls that were looked at after earlier kills
	var all []killed
	for i := range *kills {
		pause(t.Context(), time.Duration(rand.IntN(700))*time.Millisecond)
		running := s.clients.running()
		p.Kill(t)
		after := s.inspect(t, known)
		after.running = running
		all = append(all, after)
		if i%4 == 3 { // it dies while it rebuilds its budgets, or soon after
			p = p.Relaunch(t)
			pause(t.Context(), time.Duration(rand.IntN(300))*time.Millisecond)
			p.Kill(t)
			findsNoDamage(t, p)
			s.inspect(t, known)
		}
		if i%2 == 0 {
			s.rebuilt(t)
		}
		p = p.Restart(t)
		findsNoDamage(t, p)
		s.clients.awaitCalls(t, 1)
	}
	s.clients.awaitCalls(t, 10)
	stopNode()
	s.clients.halt()
	p.Stop(t)

	b, attempts := readBook(t, s.path), s.clients.list()
	have, charged := b.coversAll(tally(t, attempts, s.up), attempts)
	b.knowsNobody(attempts)
	b.addsUp()
	for _, o := range s.refilling {
		b.neverOver(o)
	}
	total := killed{}
	for _, k := range all {
		total = killed{total.running + k.running, total.missing + k.missing, total.unfinished + k.unfinished}
	}
	t.Logf("%d kills while %d calls ran; %d of them charged all they had reserved, %d unknown to the ledger and to their clients; %d exchanges, clients have %d tokens for %s, charged %d for %s; statuses %v",
		len(all), total.running, total.unfinished, total.missing, len(b.all), have.tokens, have.dollars, charged.tokens, charged.dollars, s.clients.statuses())
	if s.clients.statuses()[http.StatusTooManyRequests] == 0 {
		t.Error("no budget was ever short, so that nothing is shown of those that refill")
	}
}

// findsNoDamage fails the test if a program says that what a kill has left is damaged.
func findsNoDamage(t *testing.T, p *harness.Program) {
	t.Helper()
	for line := range strings.Lines(p.Stderr()) {
		if strings.Contains(line, "ledger journal") && !strings.Contains(line, "ledger journal replayed") {
			t.Errorf("after a kill the log has: %s", line)
		}
	}
}

// inspect looks at what a kill has left, in a copy.
func (s *shop) inspect(t *testing.T, known map[string]bool) killed {
	t.Helper()
	eventually(t, "what the killed program has sent has arrived", func() bool { return s.up.Connections() == 0 })
	b, calls := copyBook(t, s.path), callsByName(t, s.up)
	eventually(t, "the clients of the killed program have noticed", func() bool { return s.clients.noticed(b, calls) })
	attempts := s.clients.list()
	b.coversAll(tally(t, attempts, s.up), attempts)
	b.knowsNobody(attempts)
	fresh := map[string]*fakeopenai.Call{}
	for name, c := range calls {
		if !known[name] {
			fresh[name], known[name] = c, true
		}
	}
	missing := b.missing(fresh, attempts)
	if len(missing) > s.clients.workers {
		t.Errorf("the ledger does not know %d calls of %d workers", len(missing), s.clients.workers)
	}
	return killed{missing: len(missing), unfinished: b.unfinished}
}

// rebuilt starts the program where no client finds it, and compares its budgets with the ledger.
func (s *shop) rebuilt(t *testing.T) {
	t.Helper()
	b := copyBook(t, s.path)
	apart := strings.Replace(s.yaml, fmt.Sprintf("127.0.0.1:%d", s.port), "127.0.0.1:0", 1)
	p := harness.StartYAML(t, apart)
	m := p.Metrics(t)
	scraped := time.Now()
	s.counts(t, m, b)
	for _, o := range s.refilling {
		if !strings.Contains(o.text, "in any") {
			continue
		}
		if got, want := o.counted(t, m), b.spent(o.name(), scraped.Add(-o.limit.Every)); got < want {
			t.Errorf("%s: %d counted after a restart, and the ledger has %d of its last %s", o.name(), got, want, o.limit.Every)
		}
	}
	p.Kill(t)
}

// counts fails the test unless what lasts is counted by a program that has just started as it is in the ledger.
func (s *shop) counts(t *testing.T, m harness.Metrics, b *book) {
	t.Helper()
	for _, o := range s.lasting {
		if got, want := o.counted(t, m), b.spent(o.name(), o.period(time.Now())); got != want {
			t.Errorf("%s: %d counted after a restart, and the ledger has %d", o.name(), got, want)
		}
	}
}

// noticed reports whether every call that a program made before it died has ended on the client's side, too.
func (c *clients) noticed(b *book, calls map[string]*fakeopenai.Call) bool {
	attempts := c.list()
	ended := func(name string) bool {
		a := attempts[name]
		if a == nil {
			return false // its client has not told yet
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.ended
	}
	for name := range calls {
		if !ended(name) {
			return false
		}
	}
	for name := range b.byName {
		if !ended(name) {
			return false
		}
	}
	return true
}
