package test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tokenfare/tokenfare/test/fakeopenai"
	"github.com/tokenfare/tokenfare/test/harness"
)

// A process that is to stay small does, with as many bodies in memory as its max_buffered allows, to the byte, and with twice as many
// that all come at once: each caller has an answer, be it after a while, or is told that there is no room.
func TestThreatMemoryLimit(t *testing.T) {
	const (
		each, bodies = 256 << 10, 192 // of so small a body, what is sent after a refusal is read to its end, so that its sender reads that
		limit        = 104 << 20      // GOMEMLIMIT: 48 MiB of bodies, 38 of a program that has counted something, and what it takes to read, count and send
		margin       = 32 << 20       // what that does not count, the program's code, and what the collector is late by: 17 to 21 on a busy machine
	)
	up := fakeopenai.New(t)
	config := harness.Config{
		Upstream: up.URL, Limits: []string{"1000000000 tokens in total"}, BobLimits: []string{"1000000000 tokens in total"},
		Models: "  \"gpt-*\": { upstream: fake, context_tokens: 10000000 }\n", More: fmt.Sprintf("max_body: %d\nmax_buffered: %d\ntimeouts: { request_body: 40s }\n", each, bodies*each),
	}
	p := harness.StartPlain(t, config.YAML(), fmt.Sprintf("GOMEMLIMIT=%dMiB", limit>>20))
	head, tail := `{"model":"gpt-4o-mini","max_tokens":5,"messages":[{"role":"user","content":"`, `"}]}`
	body := head + strings.Repeat("word ", each)[:each-1-len(head)-len(tail)] + tail // one byte is booked for its end
	keys := []string{harness.Alice, harness.Bob}                                     // each may have half of the room

	last := make(chan struct{}) // closed: all send their last byte
	var held sync.WaitGroup
	for i := range bodies {
		r := harness.Request(t, http.MethodPost, p.URL+"/v1/chat/completions", keys[i%2], "")
		r.Body, r.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader(body[:len(body)-1]), after(last, body[len(body)-1:]))), int64(len(body))
		held.Go(func() { p.Do(t, r).WantOK(t) })
	}
	harness.Eventually(t, "there is no room left", func() bool {
		n, _ := p.Metrics(t).Sum("tokenfare_buffered_body_bytes")
		return n == bodies*each
	})
	var late sync.WaitGroup
	for _, key := range keys {
		late.Go(func() { // each waits half of that time
			if told := p.Chat(t, key, ask(`"max_tokens": 5`)).WantError(t, http.StatusServiceUnavailable); told.CodeText() != "server_busy" {
				t.Errorf("who comes when there is no room is told %q", told.CodeText())
			}
		})
	}
	late.Wait()
	full := p.PeakRSS(t)
	close(last)
	held.Wait()
	answered := p.PeakRSS(t)

	var served, busy atomic.Int64
	var all sync.WaitGroup
	for i := range 2 * bodies {
		all.Go(func() {
			switch got := p.Chat(t, keys[i%2], body); got.Status {
			case http.StatusOK:
				served.Add(1)
			case http.StatusServiceUnavailable:
				busy.Add(1)
				if told := got.WantError(t, http.StatusServiceUnavailable); told.CodeText() != "server_busy" {
					t.Errorf("a call is refused with %q", told.CodeText())
				}
			default:
				t.Errorf("%d %.200s", got.Status, got.Body)
			}
		})
	}
	all.Wait()
	if served.Load() < bodies/2 {
		t.Errorf("%d of %d calls were served", served.Load(), served.Load()+busy.Load())
	}
	peak := p.PeakRSS(t)
	t.Logf("MiB resident: %d with all bodies in memory, %d until they were answered, %d until %d more were, and %d refused", full>>20, answered>>20, peak>>20, served.Load(), busy.Load())
	if peak > limit+margin {
		t.Errorf("%d MiB were resident, and may be %d", peak>>20, (limit+margin)>>20)
	}
	p.WantIdle(t)
	p.Chat(t, harness.Alice, ask(`"max_tokens": 5`)).WantOK(t)
}

// after reads as a text, once something is closed.
func after(closed <-chan struct{}, text string) io.Reader {
	rest := strings.NewReader(text)
	return readerFunc(func(p []byte) (int, error) {
		<-closed
		return rest.Read(p)
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
