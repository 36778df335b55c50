package soak

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/cost"
	"github.com/tokenfare/tokenfare/test/fakeopenai"
)

// account is what the upstream knows of a call: the truth.
type account struct {
	asked    int // how often
	prompt   int64
	words    int64      // of the answer, that were given to the network
	usage    cost.Usage // as reported
	reported bool       // the report was given to the network
	status   int        // 0: none was sent
	whole    bool       // the answer came to its end
}

// upstream carries out plans, and keeps account. It remembers numbers only, so it can be driven for a day.
type upstream struct {
	http    *httptest.Server
	caFile  string // of its certificate; "" without TLS
	gone    string // an address at which nobody listens
	plans   func(number int) plan
	counter *fakeopenai.Server // counts prompts
	closing chan struct{}
	gate    chan struct{} // closed: calls that wait for it go on

	mu       sync.Mutex
	accounts map[int]account
	running  map[string]int // by key
	most     map[string]int // by key: how many ran at the same time
	strays   []string       // requests that belong to no plan
}

func newUpstream(t testing.TB, plans func(number int) plan, over fakeopenai.Over) *upstream {
	t.Helper()
	u := &upstream{
		plans: plans, counter: fakeopenai.New(t), closing: make(chan struct{}), gate: make(chan struct{}),
		accounts: map[int]account{}, running: map[string]int{}, most: map[string]int{},
	}
	u.counter.Tokens("the vocabulary is loaded before anybody waits for it")
	u.http = httptest.NewUnstartedServer(http.HandlerFunc(u.serve))
	u.caFile = over.Start(t, u.http)
	t.Cleanup(func() {
		close(u.closing)
		u.http.CloseClientConnections()
		u.http.Close()
	})
	taken, err := net.Dial("tcp", u.http.Listener.Addr().String()) // as long as it is open, nobody else can listen where it is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	u.gone = "http://" + taken.LocalAddr().String() + "/v1"
	return u
}

// list is a copy of all accounts.
func (u *upstream) list() map[int]account {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.accounts)
}

// idle reports whether no call is under way.
func (u *upstream) idle() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := 0
	for _, running := range u.running {
		n += running
	}
	return n == 0
}

func (u *upstream) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // it was not written whole
	}
	number, ok := numberIn(body)
	if !ok {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.strays = append(u.strays, fmt.Sprintf("%s %s %.100q", r.Method, r.URL.Path, body))
		return
	}
	p := u.plans(number)
	u.note(number, func(a *account) { a.asked++; a.prompt = u.promptOf(p) })
	u.runs(p.key, 1)
	a := &answer{upstream: u, plan: p, w: w, r: r}
	defer a.over()
	a.run()
}

func (u *upstream) promptOf(p plan) int64 {
	switch p.kind {
	case responses, responsesStream:
		return 6 + u.counter.Tokens("user") + u.counter.Tokens(p.prompt())
	case embeddings:
		return u.counter.Tokens(p.prompt())
	default:
		return u.counter.PromptTokens(p.body())
	}
}

func (u *upstream) note(number int, change func(*account)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	a := u.accounts[number]
	change(&a)
	u.accounts[number] = a
}

func (u *upstream) runs(key string, more int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.running[key] += more
	u.most[key] = max(u.most[key], u.running[key])
}

// pass lets time pass; false means that whoever asked is gone.
func (u *upstream) pass(r *http.Request, d time.Duration) bool {
	if d == 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
	case <-u.closing:
	}
	return false
}
