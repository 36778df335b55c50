package test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// sdkAll runs every check with every client. Without it, each client does those that are marked for it.
var sdkAll = flag.Bool("sdk.all", false, "run all checks with all SDKs")

// sdkAsk is what a client is asked to do. node/matrix.mjs reads the same.
type sdkAsk struct {
	Do       string   `json:"do"`
	Key      string   `json:"key"`
	BaseURL  string   `json:"baseURL"`
	Model    string   `json:"model"`
	Prompt   string   `json:"prompt"`
	Repeat   int      `json:"repeat,omitempty"`    // of the prompt; 0 means once
	Limit    int64    `json:"limit,omitempty"`     // of the output
	Usage    bool     `json:"usage,omitempty"`     // streams are to report their usage
	Tools    bool     `json:"tools,omitempty"`     // the function jump may be called
	StopAt   int      `json:"stopAfter,omitempty"` // pieces after which a stream is dropped
	Parallel int      `json:"parallel,omitempty"`  // so many at the same time
	N        int      `json:"n,omitempty"`         // pictures
	Inputs   []string `json:"inputs,omitempty"`    // of embeddings and moderations
	Format   string   `json:"format,omitempty"`    // of the answer
	Other    string   `json:"other,omitempty"`     // key of the steps after the first; "" means the same
}

// sdkSeen is what a program sees of it.
type sdkSeen struct {
	Text, Finish, Reasoning, RequestID string
	Texts                              []string // of parallel calls
	Pieces                             int
	WithoutChoices                     int // chunks
	Usage                              int64
	Calls                              []sdkCall
	Object                             any
	Vectors                            [][]float32
	Sums                               []string // SHA-256 of each file
	Flags                              []bool
	Names                              []string
	IDs                                []string // of what it had stored, or of what it is to name
	Count                              int64
	Left                               int64 // unix milliseconds, when a stream was dropped
	Error                              *sdkError
	Tries                              []sdkTry
}

type sdkCall struct{ Name, Arguments string }

type sdkError struct {
	Class, Code, Type, Param, Message string
	Status                            int
}

// sdkTry is one HTTP exchange that a client makes on its own account; its times are in unix milliseconds.
type sdkTry struct {
	At, Ended int64
	Status    int
	MS        int64 // Retry-After-Ms
}

// sdkClient is a client library, and what is its own about it.
type sdkClient struct {
	name     string
	start    func(t *testing.T) func(sdkAsk) sdkSeen
	can      []string       // operations
	classes  map[int]string // of errors, by status; 0 is for what comes within a stream
	retries  int            // after a 429 or a 500 that says nothing against it
	stubborn bool           // it retries what it is told not to
	asks     bool           // it asks streams for their usage by itself
}

// The keys of the matrix, by what they may spend.
var sdkKeys = map[string]string{
	"plenty": "100m tokens in total", "tiny": "50 tokens in any minute", "spent": "130 tokens in total", "slow": "130 tokens in any 4 seconds",
	"keeper": "100m tokens in total", "stranger": "100m tokens in total", "counted": "100 requests in total",
}

func sdkSecret(key string) string { return "tf-sdk secret of " + key }

// TestSDKs: the clients that people use notice nothing of the proxy but the budget.
func TestSDKs(t *testing.T) {
	t.Parallel()
	if os.Getenv("TOKENFARE_TEST") != "all" && !*sdkAll {
		t.Log("not run: set TOKENFARE_TEST=all after npm ci in test/node, as test/all.sh does")
		return
	}
	var mu sync.Mutex
	counts := map[string]int{}
	t.Cleanup(func() {
		sum, lines := 0, []string{}
		for name, n := range counts {
			sum += n
			lines = append(lines, fmt.Sprintf("%s %d", name, n))
		}
		slices.Sort(lines)
		fmt.Fprintf(os.Stderr, "sdk checks: %d (%s)\n", sum, strings.Join(lines, ", "))
	})
	for _, c := range sdkClients() {
		checks := slices.DeleteFunc(sdkChecks(), func(check sdkCheck) bool {
			return !slices.Contains(c.can, check.ask.Do) || slices.Contains(check.not, c.name) || !*sdkAll && !slices.Contains(check.ci, c.name)
		})
		if len(checks) == 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			room := newSDKRoom(t, c)
			for _, check := range checks {
				t.Run(check.name, func(t *testing.T) { room.check(t, check) })
				mu.Lock()
				counts[c.name]++
				mu.Unlock()
			}
		})
	}
}

// sdkRoom is a client in front of a program of its own, with an upstream of its own.
type sdkRoom struct {
	client  sdkClient
	do      func(sdkAsk) sdkSeen
	program *harness.Program
	up      *fakeopenai.Server
	stored  *fakeopenai.Stored // what the upstream remembers in checks that are about it
	before  int                // calls that the upstream has seen before the check
}

func newSDKRoom(t *testing.T, c sdkClient) *sdkRoom {
	t.Helper()
	up := fakeopenai.New(t)
	up.Models("gpt-4o-mini", "tts-1")
	var keys strings.Builder
	for name, sentence := range sdkKeys {
		fmt.Fprintf(&keys, "  %s: { hash: %q, limits: [%q] }\n", name, harness.Hash(sdkSecret(name)), sentence)
	}
	p := harness.StartYAML(t, fmt.Sprintf("listen: \"127.0.0.1:0\"\nadmin: { listen: \"127.0.0.1:0\" }\nstate: owned\nupstreams:\n  fake: { url: %q, key: %q }\nkeys:\n%s", up.URL, harness.UpstreamKey, &keys))
	stored := fakeopenai.NewStored()
	stored.Tools = twoTools
	stored.Add("file", 30) // of other customers
	stored.Add("chat.completion", 30)
	return &sdkRoom{client: c, do: c.start(t), program: p, up: up, stored: stored}
}

// arrived are the calls that the upstream has seen in checks of a kind: where things are stored, also those that cost nothing.
func (r *sdkRoom) arrived(stored bool) []*fakeopenai.Call {
	if stored {
		return r.up.Everything()
	}
	return r.up.Calls()
}

// check has the client do what the check asks for, and compares what it saw, what the upstream saw and what it was charged.
func (r *sdkRoom) check(t *testing.T, c sdkCheck) {
	c.want = c.want.from(r.client)
	r.up.Remember(nil)
	if c.stored {
		r.up.Remember(r.stored)
		used := r.stored.Used()
		if c.want.charged == nil {
			c.want.charged = func([]*fakeopenai.Call) int64 { return r.stored.Used() - used }
		}
	}
	r.before = len(r.arrived(c.stored))
	answered := 0
	r.up.Script(func(*fakeopenai.Call) fakeopenai.Answer { // the last one for all that follow
		answered++
		if len(c.answers) == 0 {
			return fakeopenai.Answer{}
		}
		return c.answers[min(answered, len(c.answers))-1]
	})
	if c.key == "" {
		c.key = "plenty"
	}
	if c.spend {
		r.program.Chat(t, sdkSecret(c.key), ask(`"max_tokens": 100`)).WantOK(t)
		answered--
		r.before++
	}
	left, strangers := r.program.Remaining(t, c.key), r.program.Remaining(t, "stranger")
	c.ask.Key, c.ask.BaseURL = sdkSecret(c.key), r.program.URL+"/v1"
	if c.secret != "" {
		c.ask.Key = c.secret
	}
	if c.other {
		c.ask.Other = sdkSecret("stranger")
	}
	if c.ask.Model == "" {
		c.ask.Model = model
	}
	if c.ask.Prompt == "" {
		c.ask.Prompt = question
	}
	seen := r.do(c.ask)
	defer func() {
		if t.Failed() {
			t.Logf("the client saw %.2000s %+v", fmt.Sprintf("%+v", seen), seen.Error)
		}
	}()
	r.program.WantIdle(t)
	calls := r.arrived(c.stored)[r.before:]
	c.want.compare(t, r.client, c.ask, seen, calls)
	if c.stored {
		c.want.compareStored(t, seen, calls)
	}
	charged := left - r.program.Remaining(t, c.key)
	if now := r.program.Remaining(t, "stranger"); now != strangers {
		t.Errorf("the other key was charged %d", strangers-now)
	}
	switch {
	case c.want.charged != nil && charged != c.want.charged(calls):
		t.Errorf("charged %d, want %d", charged, c.want.charged(calls))
	case c.want.charged == nil && c.want.status == 0 && !c.want.unmetered && charged <= 0:
		t.Errorf("charged %d", charged)
	case seen.Usage != 0 && seen.Usage != charged && !c.want.unmetered:
		t.Errorf("the client saw a usage of %d, and %d was charged", seen.Usage, charged)
	}
	if c.ask.StopAt > 0 && len(calls) > 0 {
		calls[0].WantCancelled(t, time.UnixMilli(seen.Left), max(time.Second, promptly()))
	}
}

// wantTries compares the statuses of a client's tries, and holds it to the wait that it was told.
func wantTries(t *testing.T, want []int, seen sdkSeen) {
	t.Helper()
	var got []int
	for i, try := range seen.Tries {
		got = append(got, try.Status)
		if i > 0 && seen.Tries[i-1].MS > 0 && try.Status < 400 {
			if waited := try.At - seen.Tries[i-1].Ended; waited < seen.Tries[i-1].MS-5 {
				t.Errorf("the client retried after %d ms, told %d", waited, seen.Tries[i-1].MS)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
}
