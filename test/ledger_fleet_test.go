package test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger"
	"github.com/tokenfare/tokenfare/cost/ledger/postgres"
	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// readShared reads the ledger at a URL of Postgres'.
func readShared(t testing.TB, url string) *book {
	t.Helper()
	store, err := postgres.OpenReader(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return readStore(t, store)
}

// settled waits until every exchange has its end in the ledger, and reads it.
func settled(t testing.TB, url string) (b *book) {
	t.Helper()
	eventually(t, "every exchange has ended", func() bool { b = readShared(t, url); return b.unfinished == 0 })
	return b
}

// openHolding opens a shop on a ledger in Postgres, where the answer to hold pauses until it is released.
func openHolding(t *testing.T, url string) (s *shop, release func()) {
	t.Helper()
	s = openShop(t, "", fmt.Sprintf("{ url: %q }", url))
	rest := make(chan struct{})
	s.up.Script(func(c *fakeopenai.Call) fakeopenai.Answer {
		if nameOf(c.Header) == "held-0" {
			return fakeopenai.Answer{Text: words(20), Pause: rest, PauseAt: 5}
		}
		return anyAnswer(c)
	})
	return s, func() { close(rest) }
}

// hold makes a call of key steady, and returns when the first events of its answer have arrived.
func (c *clients) hold(t *testing.T) *http.Response {
	t.Helper()
	ctx := context.WithValue(t.Context(), askingKey{}, &asking{marker: "held"})
	request := harness.Request(t, http.MethodPost, c.base+"/v1/chat/completions", c.keys["steady"], ask(`"stream": true`, `"max_tokens": 50`))
	resp, err := c.http("steady").Do(request.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	readEvents(t, resp.Body, 5)
	return resp
}

// wantEqual wants balanced books, and the budgets of an idle program to be those that a start would make of them.
func wantEqual(t *testing.T, dir string, p *harness.Program) {
	t.Helper()
	if states := verify(t, dir, "-admin", p.Admin).states(); !slices.Equal(states, []string{"equal"}) {
		t.Errorf("budgets are %v", states)
	}
}

// TestFrozenProgramIsFenced stops a program, as a suspended machine does, until another that shares its ledger takes it for dead
// and charges what it had open. When it goes on, it spends nothing more, and ends; the next one begins where the ledger is.
func TestFrozenProgramIsFenced(t *testing.T) {
	t.Parallel()
	pg, ok := harness.Postgres(t)
	if !ok {
		return
	}
	url := pg.NewDatabase(t)
	s, release := openHolding(t, url)
	dir := t.TempDir()
	frozen := serveIn(t, dir, s.yaml)
	other := serveIn(t, t.TempDir(), strings.Replace(s.yaml, fmt.Sprintf("127.0.0.1:%d", s.port), "127.0.0.1:0", 1))
	others := newClients(other.URL, s.clients.keys)
	others.number = 500_000 // so that no two calls have a name
	attempts := func() map[string]*attempt {
		all := s.clients.list()
		maps.Copy(all, others.list())
		return all
	}
	held := s.clients.hold(t)
	s.clients.run(3)
	defer s.clients.halt()
	others.run(1)
	defer others.halt()
	s.clients.awaitCalls(t, 10)
	others.awaitCalls(t, 10)

	frozen.Freeze(t)
	defer frozen.Thaw(t) // or nothing ends it
	release()            // what the upstream has to say is there when the program goes on
	other.AwaitLog(t, "what the frozen program had open is charged", func(l harness.Line) bool { return l["unfinished_calls_of_others"] != nil })
	slot := readShared(t, url).byName["held-0"].Begin.Exchange.Slot()
	adopted := func(when string) {
		t.Helper()
		b := readShared(t, url)
		for _, x := range b.all {
			if x.Begin.Exchange.Slot() == slot && x.End.Seq == 0 {
				t.Errorf("%s, %s has no end", when, x.Begin.Label)
			}
		}
		if x := b.byName["held-0"]; x.End.Ending != ledger.Crashed || x.End.Basis != ledger.Unreported || x.End.Usage != x.Begin.Most || x.End.Cost != x.Begin.Reserved {
			t.Errorf("%s, the call that was held open is charged %+v, and had reserved %+v", when, x.End, x.Begin)
		}
	}
	adopted("while it is frozen")
	var late sync.WaitGroup // calls that have piled up
	for i := range 4 {
		q := &asking{marker: fmt.Sprintf("late%d", i), key: "steady", model: model, most: 20}
		late.Go(func() { s.clients.askGoOpenAI(context.WithValue(context.Background(), askingKey{}, q), q) })
	}
	frozen.Thaw(t)
	frozen.WantExit(t, 1)
	late.Wait()
	harness.Read(held)
	adopted("once it goes on")
	if says := frozen.Stderr(); !strings.Contains(says, `"msg":"ledger unavailable"`) || !strings.Contains(says, "took this one for dead, after a long silence") {
		t.Error("it does not say why it ends")
	}

	s.clients.halt()
	others.halt()
	for status, n := range others.statuses() {
		if status != http.StatusOK && status != http.StatusTooManyRequests {
			t.Errorf("%d calls to the other program got status %d", n, status)
		}
	}
	b := settled(t, url)
	b.coversAll(tally(t, attempts(), s.up), attempts())
	b.knowsNobody(attempts())
	calls, last := callsByName(t, s.up), time.Time{} // when the last call was admitted that the ledger has of the program
	for _, x := range b.all {
		if id := x.Begin.Exchange; id.Slot() == slot && id.Time().After(last) {
			last = id.Time()
		}
	}
	fenced := b.unknown(calls) // those admitted since its last commit: nobody has got anything of their answers
	for _, name := range fenced {
		if strings.HasPrefix(name, "late") {
			t.Errorf("%s went upstream", name)
		}
		if status, _, _ := attempts()[name].received(); status != 0 && status != http.StatusServiceUnavailable {
			t.Errorf("%s got status %d, and the ledger does not know it", name, status)
		}
		if at := calls[name].Arrived; at.Before(last) {
			t.Errorf("%s reached the upstream %s before a call was admitted that the ledger knows", name, last.Sub(at))
		}
	}
	if len(fenced) > s.clients.workers {
		t.Errorf("the ledger does not know %d calls of %d workers", len(fenced), s.clients.workers)
	}

	again := serveIn(t, dir, s.yaml)
	s.counts(t, again.Metrics(t), b)
	s.clients.run(3)
	s.clients.awaitCalls(t, 10)
	s.clients.halt()
	settled(t, url)
	wantEqual(t, dir, again)
	again.Stop(t)
	other.Stop(t)
	verify(t, dir)
	b = readShared(t, url)
	b.addsUp()
	have, charged := b.coversAll(tally(t, attempts(), s.up), attempts())
	if after := b.unknown(callsByName(t, s.up)); !slices.Equal(after, fenced) {
		t.Errorf("the ledger did not know %v, and does not know %v", fenced, after)
	}
	t.Logf("%d exchanges, %d went upstream unrecorded; clients have %v, charged %v; statuses %v and %v",
		len(b.all), len(fenced), have, charged, s.clients.statuses(), others.statuses())
}

// unknown are the calls of the upstream's that have no row.
func (b *book) unknown(calls map[string]*fakeopenai.Call) (names []string) {
	for name := range calls {
		if b.byName[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestPostgresRestartsUnderTheProgram: nothing new is spent meanwhile, and then all goes on by itself; every call that went upstream
// is recorded once.
func TestPostgresRestartsUnderTheProgram(t *testing.T) {
	t.Parallel()
	pg, ok := harness.StartPostgres(t)
	if !ok {
		return
	}
	s, release := openHolding(t, pg.URL())
	dir := t.TempDir()
	p := serveIn(t, dir, s.yaml)
	held := s.clients.hold(t)
	s.clients.run(3)
	defer s.clients.halt()
	for i, end := range []func(*harness.PostgresServer, testing.TB){
		(*harness.PostgresServer).Kill, (*harness.PostgresServer).Stop, (*harness.PostgresServer).Kill,
	} {
		s.clients.awaitCalls(t, 10)
		end(pg, t)
		eventually(t, "the program is not ready", func() bool { return p.Get(t, "", "/readyz").Status == http.StatusServiceUnavailable })
		refused := harness.Request(t, http.MethodPost, p.URL+"/v1/chat/completions", s.clients.keys["steady"], ask(`"max_tokens": 10`))
		refused.Header.Set("Traceparent", fmt.Sprintf("refused-%d", i)) // neither the upstream nor the ledger is to know it
		if code := p.Do(t, refused).WantError(t, http.StatusServiceUnavailable).CodeText(); code != "ledger_unavailable" {
			t.Errorf("a new call is refused with %q", code)
		}
		p.Get(t, "", "/healthz").WantOK(t)
		if i == 2 {
			release()
			harness.Read(held).WantOK(t) // whoever was being served goes on
		}
		pg.Start(t)
		eventually(t, "the program is ready again", func() bool { return p.Get(t, "", "/readyz").Status == http.StatusOK })
	}
	s.clients.awaitCalls(t, 10)
	s.clients.halt()
	settled(t, pg.URL())
	wantEqual(t, dir, p)
	p.Stop(t)
	verify(t, dir)

	b, attempts := readShared(t, pg.URL()), s.clients.list()
	have, charged := b.coversAll(tally(t, attempts, s.up), attempts)
	b.knowsNobody(attempts)
	b.addsUp()
	calls := callsByName(t, s.up)
	if unknown := b.unknown(calls); len(unknown) > 0 || len(calls) != len(b.all) {
		t.Errorf("the upstream saw %d calls, and the ledger has %d, without %v", len(calls), len(b.all), unknown)
	}
	if x := b.byName["held-0"]; x == nil || x.End.Ending != "complete" || x.End.Basis != ledger.Reported {
		t.Errorf("the call that ended meanwhile is recorded as %+v", x)
	}
	if n := s.clients.statuses()[0]; n > 0 {
		t.Errorf("%d calls got no answer", n)
	}
	t.Logf("%d exchanges, clients have %v, charged %v; statuses %v", len(b.all), have, charged, s.clients.statuses())
}
