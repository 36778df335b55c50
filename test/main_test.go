// Package test drives the built program from outside: real clients in front of it, a scripted upstream behind it.
//
// go test ./test needs nothing but Go. With TOKENFARE_TEST=all, which the README's test command sets after installing
// what they need, the suites that need more than Go run too, and a missing tool is then a failure.
package test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tokenfare/tokenfare/test/harness"
)

// long makes load tests run at full size.
var long = flag.Bool("long", false, "run load tests at full size")

func TestMain(m *testing.M) {
	// Tests that run beside others mostly wait: for programs that start and end, and for what programs wait for themselves.
	flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	flag.Parse()
	os.Exit(harness.Main(m))
}

// model is the model most tests ask for: plain text, no hidden reasoning, a known vocabulary.
const model = "gpt-4o-mini"

// question is the prompt of every request that ask writes.
const question = "What did the quick brown fox jump over?"

// ask is a chat request for model with more members, each as JSON.
func ask(members ...string) string { return askModel(model, members...) }

// askModel is ask for another model.
func askModel(name string, members ...string) string {
	all := append([]string{
		fmt.Sprintf(`"model": %q`, name),
		fmt.Sprintf(`"messages": [{"role": "user", "content": %q}]`, question),
	}, members...)
	return "{" + strings.Join(all, ", ") + "}"
}

// words are n pieces of text that are one token each, alone and joined.
func words(n int) []string {
	some := []string{" red", " green", " blue", " black", " white", " yellow"}
	out := make([]string, n)
	for i := range out {
		out[i] = some[i%len(some)]
	}
	return out
}

func itoa(n int) string { return strconv.Itoa(n) }

// promptly is how soon an abandoned call must be gone from the upstream. The race detector and a shared machine need
// more than the 100 ms the product aims at.
func promptly() time.Duration {
	if harness.Race {
		return time.Second
	}
	return 250 * time.Millisecond
}
