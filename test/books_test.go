package test

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost/ledger/sqlite"
	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// adminToken is what the admin listener asks for in these tests.
const adminToken = "the-token-of-the-admin-77"

// withToken is a configuration whose admin listener asks for the token.
func withToken(c harness.Config) string {
	return strings.Replace(c.YAML(), `admin: { listen: "127.0.0.1:0" }`, `admin: { listen: "127.0.0.1:0", token: "`+adminToken+`" }`, 1)
}

// serveIn starts the program in a directory that outlasts it.
func serveIn(t *testing.T, dir, yaml string) *harness.Program {
	t.Helper()
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	p := harness.Launch(t, dir, nil, "serve", "-config", config)
	p.URL, p.Admin = "http://"+p.AwaitListening(t, "proxy"), "http://"+p.AwaitListening(t, "admin")
	return p
}

// ledger runs a subcommand of `tokenfare ledger` and wants an exit status.
func ledgerCommand(t *testing.T, dir string, status int, args ...string) string {
	t.Helper()
	args = append([]string{"ledger", args[0], "-config", "config.yaml"}, args[1:]...)
	stdout, stderr, got := harness.Run(t, dir, nil, args...)
	if got != status {
		t.Fatalf("%v: exit status %d, want %d\n%s%s", args, got, status, stdout, stderr)
	}
	return stdout + stderr
}

// books are what `ledger verify -json` prints, as far as it is looked at.
type books struct {
	Balances    bool
	Exchanges   int64
	Corrections int64
	Open        struct{ Exchanges int64 }
	Differences []struct{ Kind, Text string }
	Live        struct {
		Skipped string
		Budgets []struct {
			Name, State  string
			Live, Ledger int64
		}
	}
}

// verify wants balanced books.
func verify(t *testing.T, dir string, args ...string) books {
	t.Helper()
	var b books
	text := ledgerCommand(t, dir, 0, append([]string{"verify", "-json"}, args...)...)
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if !b.Balances || len(b.Differences) > 0 {
		t.Fatalf("the books do not balance: %s", text)
	}
	return b
}

// states are the states of the budgets that were compared with the running program.
func (b books) states() (list []string) {
	for _, one := range b.Live.Budgets {
		list = append(list, one.State)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// used is what the budgets of the running program have counted, by name.
func used(t *testing.T, p *harness.Program) map[string]int64 {
	t.Helper()
	r := p.Do(t, harness.Request(t, http.MethodGet, p.Admin+"/budgets", adminToken, "")).WantOK(t)
	var list struct {
		Budgets []struct {
			Name       string
			Used, Held int64
		}
	}
	if err := json.Unmarshal([]byte(r.Body), &list); err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for _, b := range list.Budgets {
		out[b.Name] = b.Used + b.Held
	}
	return out
}

// everyUnit are limits of every unit, of kinds that last and that do not, some that only observe.
var everyUnit = []string{
	"$1000 each month", "$900 in total, observe only", "$50 each day on gpt-4o-mini", "10000000 tokens in total", "9000000 input tokens each week",
	"9000000 uncached input tokens each day, observe only", "9000000 output tokens each quarter", "100000 requests each hour", "5000000 tokens in any hour",
	"4000000 tokens per minute", "50 at once",
}

// Whatever happens to calls, the books balance: while they run, afterwards, and without the program.
func TestTheBooksBalance(t *testing.T) {
	t.Parallel()
	withinAnHour()
	up := fakeopenai.New(t)
	dir := t.TempDir()
	p := serveIn(t, dir, harness.Config{
		Upstream: up.URL, Limits: everyUnit, BobLimits: []string{"$100 each month"},
		More: "groups:\n  team: { keys: [alice, bob], limits: [\"$500 each month\", \"1000 at once\"] }\n",
	}.YAML())
	answers := []fakeopenai.Answer{
		{},
		{SpendAll: true},
		{Report: fakeopenai.Absent},
		{Status: 500, Body: fakeopenai.ErrorBody("no", "server_error", "")},
		{Fault: fakeopenai.CloseBeforeHeaders},
		{Fault: fakeopenai.Abort, After: 4, Text: words(20)},
		{Usage: []string{fakeopenai.UsageObject(20, 5000)}},
		{Usage: []string{fakeopenai.UsageObject(-3, 5)}},
		{Usage: []string{`{"prompt_tokens":40,"completion_tokens":6,"total_tokens":46,"prompt_tokens_details":{"cached_tokens":30},"completion_tokens_details":{"reasoning_tokens":2}}`}},
	}
	release := make(chan struct{})
	up.Next(model, fakeopenai.Answer{Text: words(20), Pause: release, PauseAt: 5})
	running := p.Open(t.Context(), t, harness.Alice, ask(`"stream": true`, `"max_tokens": 50`))
	readEvents(t, running.Body, 5)

	const rounds = 4
	var calls sync.WaitGroup
	for range rounds {
		up.Next(model, answers...)
		for i := range answers {
			calls.Go(func() {
				key, body := harness.Alice, ask(`"max_tokens": 30`)
				if i%3 == 0 {
					key = harness.Bob
				}
				if i%2 == 0 {
					body = ask(`"max_tokens": 30`, `"stream": true`)
				}
				if resp, err := p.HTTP.Do(harness.Request(t, http.MethodPost, p.URL+"/v1/chat/completions", key, body)); err == nil {
					harness.Read(resp)
				}
			})
		}
	}
	busy := verify(t, dir, "-admin", p.Admin)
	if states := busy.states(); slices.Contains(states, "differs") || len(states) == 0 || busy.Open.Exchanges == 0 {
		t.Errorf("while calls run: %d are open, budgets are %v", busy.Open.Exchanges, states)
	}
	calls.Wait()
	p.Chat(t, harness.Alice, askModel("gpt-4o", `"max_tokens": 30`)).WantOK(t)
	harness.Eventually(t, "only the call that waits is open", func() bool { return verify(t, dir, "-admin", p.Admin).Open.Exchanges == 1 })
	close(release)
	harness.Read(running)
	p.WantIdle(t)
	harness.Eventually(t, "all ends are in the ledger", func() bool { return verify(t, dir, "-admin", p.Admin).Open.Exchanges == 0 })
	done := verify(t, dir, "-admin", p.Admin)
	if states := done.states(); !slices.Equal(states, []string{"equal"}) || len(done.Live.Budgets) != 12 {
		t.Errorf("%d budgets are %v: %+v", len(done.Live.Budgets), states, done.Live)
	}
	if want := int64(rounds*len(answers) + 2); done.Exchanges != want {
		t.Errorf("%d calls are in the ledger, want %d", done.Exchanges, want)
	}

	p.Stop(t)
	text := ledgerCommand(t, dir, 0, "verify", "-admin", p.Admin)
	for _, want := range []string{"The books balance.", "not compared: no proxy answers at " + p.Admin, "it counts only some models"} {
		if !strings.Contains(text, want) {
			t.Errorf("without the program, this is not said: %q\n%s", want, text)
		}
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "usage.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE spent SET n = n + 7 WHERE budget = (SELECT id FROM budgets WHERE name = 'key bob: dollars each month')`); err != nil {
		t.Fatal(err)
	}
	text = ledgerCommand(t, dir, 1, "verify", "-admin", p.Admin)
	for _, want := range []string{"DIFFERS", `budget "key bob: dollars each month"`, "The books do NOT balance: 1 difference."} {
		if !strings.Contains(text, want) {
			t.Errorf("of a sum that was changed, this is not said: %q\n%s", want, text)
		}
	}
	// A copy is a ledger like any other.
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := sqlite.Backup(t.Context(), filepath.Join(dir, "usage.db"), copied); err != nil {
		t.Fatal(err)
	}
	ledgerCommand(t, dir, 1, "verify", "-ledger", "sqlite:"+copied)
}

// idOf is the id of the first call that ended so.
func idOf(t *testing.T, p *harness.Program, ending string) string {
	t.Helper()
	return p.AwaitLog(t, "a call that ended "+ending, func(l harness.Line) bool {
		return l.String("msg") == "request" && l.String("ending") == ending
	}).String("id")
}

// wantUsed compares what the budgets of the program have counted, but for those that time refills.
func wantUsed(t *testing.T, p *harness.Program, want map[string]int64) {
	t.Helper()
	got := used(t, p)
	for name, n := range want {
		if got[name] != n {
			t.Errorf("%s has counted %d, want %d", name, got[name], n)
		}
	}
}

// A correction goes through the running program: its budgets follow at once, and are the same after a restart; the books
// balance throughout.
func TestCorrectWhileServing(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { correctWhileServing(t, "") })
	t.Run("postgres", func(t *testing.T) {
		if pg, ok := harness.Postgres(t); ok {
			correctWhileServing(t, "ledger: { url: \""+pg.NewDatabase(t)+"\" }\n")
		}
	})
}

// withinAnHour waits for the next hour where this one is about to end: budgets of it begin anew then.
func withinAnHour() {
	if left := time.Until(time.Now().Truncate(time.Hour).Add(time.Hour)); left < 45*time.Second {
		<-time.After(left)
	}
}

func correctWhileServing(t *testing.T, ledger string) {
	withinAnHour()
	up := fakeopenai.New(t)
	dir := t.TempDir()
	yaml := withToken(harness.Config{Upstream: up.URL, Limits: everyUnit, More: ledger})
	p := serveIn(t, dir, yaml)
	admin := []string{"-admin", p.Admin}
	up.Next(model, fakeopenai.Answer{Fault: fakeopenai.CloseBeforeHeaders})
	p.Chat(t, harness.Alice, ask(`"max_tokens": 30`)).WantError(t, http.StatusBadGateway)
	p.Chat(t, harness.Alice, ask(`"max_tokens": 30`)).WantOK(t)
	unknown, known := idOf(t, p, "no_status"), idOf(t, p, "complete")
	input := up.PromptTokens(ask())
	const month, tokens, requests = "key alice: dollars each month", "key alice: tokens in total", "key alice: requests each hour"
	before := used(t, p)

	correct := func(status int, args ...string) string {
		t.Helper()
		return ledgerCommand(t, dir, status, slices.Concat([]string{"correct"}, admin, args)...)
	}
	text := correct(0, "-id", unknown, "-charge-nothing", "-reason", "the provider was down", "-dry-run")
	if !strings.Contains(text, "Nothing was changed.") || !strings.Contains(text, unknown) {
		t.Errorf("a dry run says: %s", text)
	}
	wantUsed(t, p, before)

	text = correct(0, "-id", unknown, "-charge-nothing", "-reason", "the provider was down")
	if !strings.Contains(text, "Corrected by the proxy at "+p.Admin) {
		t.Errorf("this was said: %s", text)
	}
	after := used(t, p)
	if after[tokens] != before[tokens]-input-30 || after[requests] != 1 || after[month] >= before[month] {
		t.Errorf("%v became %v", before, after)
	}
	if b := verify(t, dir, admin...); b.Corrections != 1 || !slices.Equal(b.states(), []string{"equal"}) {
		t.Errorf("%d corrections, %+v", b.Corrections, b.Live)
	}
	if text = correct(0, "-id", unknown, "-charge-nothing", "-reason", "again"); !strings.Contains(text, "charged so already") {
		t.Errorf("a correction that changes nothing says: %s", text)
	}

	// The same call once more, and one that was reported, by what the provider says now.
	correct(0, "-id", unknown, "-usage", "input=10,cached=4,output=5", "-reason", "the provider found it")
	correct(0, "-id", known, "-cost", "$0.5", "-reason", "as on the invoice")
	last := used(t, p)
	if last[tokens] != after[tokens]+15 || last[requests] != 2 || last[month] < 500_000_000 {
		t.Errorf("%v became %v", after, last)
	}
	if b := verify(t, dir, admin...); b.Corrections != 3 || !slices.Equal(b.states(), []string{"equal"}) {
		t.Errorf("%d corrections, %+v", b.Corrections, b.Live)
	}
	p.Stop(t)
	again := serveIn(t, dir, yaml)
	wantUsed(t, again, map[string]int64{month: last[month], tokens: last[tokens], requests: last[requests]})
	if states := verify(t, dir, "-admin", again.Admin).states(); !slices.Equal(states, []string{"equal"}) {
		t.Errorf("after a restart budgets are %v", states)
	}
}

// Without admin.token nobody may correct what is charged, as any program of the machine could.
func TestCorrectWantsAToken(t *testing.T) {
	t.Parallel()
	withinAnHour()
	up := fakeopenai.New(t)
	dir := t.TempDir()
	p := serveIn(t, dir, harness.Config{Upstream: up.URL, Limits: everyUnit}.YAML())
	p.Chat(t, harness.Alice, ask(`"max_tokens": 30`)).WantOK(t)
	call := idOf(t, p, "complete")
	before := used(t, p)
	harness.Eventually(t, "the end is in the ledger", func() bool { return verify(t, dir).Open.Exchanges == 0 })
	text := ledgerCommand(t, dir, 1, "correct", "-admin", p.Admin, "-id", call, "-charge-nothing", "-reason", "because")
	if !strings.Contains(text, "set admin.token") || !strings.Contains(text, "restart") {
		t.Errorf("this was said: %s", text)
	}
	for _, token := range []string{"", "wrong"} {
		r := p.Do(t, harness.Request(t, http.MethodPost, p.Admin+"/ledger/corrections", token, `{"reason":"because","corrections":[{"id":"`+call+`","charge":"nothing"}]}`))
		if r.Status != http.StatusForbidden {
			t.Errorf("token %q: %d %s", token, r.Status, r.Body)
		}
	}
	wantUsed(t, p, before)
	if b := verify(t, dir); b.Corrections != 0 {
		t.Errorf("%d corrections", b.Corrections)
	}
}

// After a crash, the calls that were charged what they had reserved are corrected together, without a running program.
func TestCorrectAfterACrash(t *testing.T) {
	t.Parallel()
	withinAnHour()
	up := fakeopenai.New(t)
	running, dir := t.TempDir(), t.TempDir()
	yaml := harness.Config{Upstream: up.URL, Limits: everyUnit, BobLimits: []string{"1000000 tokens in total"}}.YAML()
	p := serveIn(t, running, yaml)
	release := make(chan struct{})
	up.Always(model, fakeopenai.Answer{Text: words(20), Pause: release, PauseAt: 5})
	var open []*http.Response
	for _, key := range []string{harness.Alice, harness.Alice, harness.Bob} {
		resp := p.Open(t.Context(), t, key, ask(`"stream": true`, `"max_tokens": 50`))
		readEvents(t, resp.Body, 5)
		open = append(open, resp)
	}
	harness.Eventually(t, "the ledger has all three", func() bool { return len(readBook(t, filepath.Join(running, "usage.db")).all) == 3 })
	// What a crash would leave behind now.
	if err := sqlite.Backup(t.Context(), filepath.Join(running, "usage.db"), filepath.Join(dir, "usage.db")); err != nil {
		t.Fatal(err)
	}
	close(release)
	for _, resp := range open {
		harness.Read(resp)
	}
	p.Stop(t)
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	bulk := func(args ...string) string {
		t.Helper()
		return ledgerCommand(t, dir, 0, append([]string{"correct", "-admin", p.Admin, "-unreported", "-since", "1h", "-reason", "crash"}, args...)...)
	}

	if text := bulk("-charge-nothing"); !strings.Contains(text, "3 calls had not ended") || !strings.Contains(text, "add -yes") {
		t.Errorf("before anything was ended: %s", text)
	}
	if b := verify(t, dir); b.Open.Exchanges != 3 || b.Exchanges != 3 {
		t.Errorf("only looking has changed something: %+v", b)
	}
	if text := bulk("-key", "alice", "-ending", "crashed", "-counted", "-yes"); !strings.Contains(text, "2 calls:") || !strings.Contains(text, "in the ledger, as no proxy answers") {
		t.Errorf("alice's: %s", text)
	}
	if b := verify(t, dir); b.Corrections != 2 || b.Open.Exchanges != 0 {
		t.Errorf("%+v", b)
	}
	if text := bulk("-charge-nothing"); !strings.Contains(text, "1 call:") || !strings.Contains(text, "crashed") && !strings.Contains(text, "unreported") || !strings.Contains(text, "add -yes") {
		t.Errorf("what is left: %s", text)
	}
	bulk("-charge-nothing", "-yes")
	if text := bulk("-charge-nothing", "-yes"); !strings.Contains(text, "There are no such calls.") {
		t.Errorf("again: %s", text)
	}
	after := serveIn(t, dir, yaml)
	wantUsed(t, after, map[string]int64{
		"key alice: tokens in total": 2 * up.PromptTokens(ask()), "key alice: requests each hour": 2, "key bob: tokens in total": 0,
	})
	if b := verify(t, dir, "-admin", after.Admin); b.Corrections != 3 || !slices.Equal(b.states(), []string{"equal"}) {
		t.Errorf("after the start: %d corrections, %v", b.Corrections, b.Live)
	}
}
